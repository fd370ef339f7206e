// How a testee of mysql-binlog-connector-java spells values.

import com.github.shyiko.mysql.binlog.event.deserialization.ColumnType;
import com.github.shyiko.mysql.binlog.event.deserialization.EventDeserializer;
import com.github.shyiko.mysql.binlog.event.deserialization.EventDeserializer.CompatibilityMode;
import com.github.shyiko.mysql.binlog.event.deserialization.json.JsonBinary;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.BitSet;
import java.util.HexFormat;

final class Values {
    // How it shows values: numbers signed, members by number, strings as stored bytes, moments as microseconds, and
    // null for what has no moment.
    static final String FORMS = """
        {"integer":"number signed","decimal":"text","float":"value","bits":"digits","year":"number",
        "date":"microseconds zero=null","datetime":"microseconds zero=null","timestamp":"microseconds",
        "time":"microseconds","enum":"number","set":"number signed","text":"hex","bytes":"hex","json":"value",
        "geometry":"hex","vector":"hex"}""".replace("\n", "");

    private Values() {}

    static void prepare(EventDeserializer deserializer) {
        deserializer.setCompatibilityMode(
            CompatibilityMode.CHAR_AND_BINARY_AS_BYTE_ARRAY, CompatibilityMode.DATE_AND_TIME_AS_LONG_MICRO);
    }

    static String of(Object found, int type) throws IOException {
        if (found == null) {
            return "null";
        }
        if (found instanceof byte[] bytes) {
            boolean document = type == ColumnType.JSON.getCode();
            return Testee.quote(document ? JsonBinary.parseAsString(bytes) : HexFormat.of().formatHex(bytes));
        }
        if (found instanceof BitSet bits) {
            BigInteger number = BigInteger.ZERO;
            for (int bit = bits.nextSetBit(0); bit >= 0; bit = bits.nextSetBit(bit + 1)) {
                number = number.setBit(bit);
            }
            return Testee.quote(number.toString());
        }
        if (found instanceof BigDecimal decimal) {
            return Testee.quote(decimal.toPlainString());
        }
        // JSON has no NaN and no infinity.
        return found instanceof Integer || found instanceof Long ? found.toString() : Testee.quote(found.toString());
    }
}
