// For releases that show strings as text, and moments as dates of Java with milliseconds.

import com.github.shyiko.mysql.binlog.event.deserialization.EventDeserializer;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.BitSet;
import java.util.HexFormat;

final class Values {
    static final String FORMS = """
        {"integer":"number signed","decimal":"text","float":"value","bits":"digits","year":"number",
        "date":"milliseconds zero=none","datetime":"milliseconds zero=none","timestamp":"milliseconds",
        "time":"milliseconds","enum":"number","set":"number signed","text":"text","bytes":"utf8","json":"none",
        "geometry":"hex","vector":"none"}""".replace("\n", "");

    private Values() {}

    static void prepare(EventDeserializer deserializer) {}

    static String of(Object found, int type) {
        if (found == null) {
            return "null";
        }
        if (found instanceof byte[] bytes) {
            return Testee.quote(HexFormat.of().formatHex(bytes));
        }
        if (found instanceof java.util.Date moment) {
            return String.valueOf(moment.getTime());
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
