package io.tollgate;

import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.BaseStream;

/**
 * Reads and writes JSON: objects are maps, arrays are lists, integers are longs, other numbers are doubles. The JDK has no JSON,
 * and a client without dependencies fits into every project.
 */
public final class Json {
    private static final int MAX_DEPTH = 100;

    private final String text;
    private int position;

    private Json(String text) {
        this.text = text;
    }

    /** Throws {@link IllegalArgumentException} if the text is not JSON. */
    public static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.readValue(0);
        json.skipSpace();
        if (json.position < text.length()) throw json.unexpected();
        return value;
    }

    /**
     * Writes maps as objects, and lists, other collections and arrays as arrays; an Optional is its value or null. Other objects
     * are written as their text. Throws {@link IllegalArgumentException} for a stream.
     */
    public static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(value, out);
        return out.toString();
    }

    private static void write(Object value, StringBuilder out) {
        if (value == null || value instanceof Boolean || value instanceof Number) {
            out.append(value);
        } else if (value instanceof Map) {
            String separator = "{";
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                out.append(separator);
                writeString(String.valueOf(entry.getKey()), out);
                out.append(':');
                write(entry.getValue(), out);
                separator = ",";
            }
            out.append(separator.equals("{") ? "{}" : "}");
        } else if (value instanceof Iterable) {
            String separator = "[";
            for (Object item : (Iterable<?>) value) {
                out.append(separator);
                write(item, out);
                separator = ",";
            }
            out.append(separator.equals("[") ? "[]" : "]");
        } else if (value.getClass().isArray()) {
            List<Object> items = new ArrayList<>();
            for (int i = 0; i < Array.getLength(value); i++) items.add(Array.get(value, i));
            write(items, out);
        } else if (value instanceof Optional) {
            write(((Optional<?>) value).orElse(null), out);
        } else if (value instanceof BaseStream) {
            throw new IllegalArgumentException("a stream cannot be sent: collect it into a list");
        } else {
            writeString(value.toString(), out);
        }
    }

    private static void writeString(String value, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < 0x20 || Character.isSurrogate(c) || c == 0x2028 || c == 0x2029) {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }

    private Object readValue(int depth) {
        if (depth > MAX_DEPTH) throw unexpected();
        skipSpace();
        if (position >= text.length()) throw unexpected();
        switch (text.charAt(position)) {
            case '{':
                return readObject(depth);
            case '[':
                return readArray(depth);
            case '"':
                return readString();
            case 't':
                return readWord("true", Boolean.TRUE);
            case 'f':
                return readWord("false", Boolean.FALSE);
            case 'n':
                return readWord("null", null);
            default:
                return readNumber();
        }
    }

    private Map<String, Object> readObject(int depth) {
        Map<String, Object> object = new LinkedHashMap<>();
        position++;
        if (accept('}')) return object;
        do {
            skipSpace();
            String name = readString();
            require(':');
            object.put(name, readValue(depth + 1));
        } while (accept(','));
        require('}');
        return object;
    }

    private List<Object> readArray(int depth) {
        List<Object> array = new ArrayList<>();
        position++;
        if (accept(']')) return array;
        do {
            array.add(readValue(depth + 1));
        } while (accept(','));
        require(']');
        return array;
    }

    private String readString() {
        if (position >= text.length() || text.charAt(position) != '"') throw unexpected();
        StringBuilder out = new StringBuilder();
        while (++position < text.length()) {
            char c = text.charAt(position);
            if (c == '"') {
                position++;
                return out.toString();
            }
            if (c < 0x20) throw unexpected();
            out.append(c == '\\' ? readEscape() : c);
        }
        throw unexpected();
    }

    private char readEscape() {
        if (++position >= text.length()) throw unexpected();
        char c = text.charAt(position);
        int simple = "\"\\/bfnrt".indexOf(c);
        if (simple >= 0) return "\"\\/\b\f\n\r\t".charAt(simple);
        if (c != 'u' || position + 4 >= text.length()) throw unexpected();
        String digits = text.substring(position + 1, position + 5);
        if (!digits.matches("[0-9a-fA-F]{4}")) throw unexpected();
        position += 4;
        return (char) Integer.parseInt(digits, 16);
    }

    private Object readNumber() {
        int start = position;
        while (position < text.length() && "+-.0123456789eE".indexOf(text.charAt(position)) >= 0) position++;
        String number = text.substring(start, position);
        if (!number.matches("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?")) throw unexpected();
        if (number.matches("-?[0-9]{1,18}")) return Long.parseLong(number);
        return Double.parseDouble(number);
    }

    private Object readWord(String word, Object value) {
        if (!text.startsWith(word, position)) throw unexpected();
        position += word.length();
        return value;
    }

    private boolean accept(char expected) {
        skipSpace();
        if (position >= text.length() || text.charAt(position) != expected) return false;
        position++;
        return true;
    }

    private void require(char expected) {
        if (!accept(expected)) throw unexpected();
    }

    private void skipSpace() {
        while (position < text.length() && " \t\r\n".indexOf(text.charAt(position)) >= 0) position++;
    }

    private IllegalArgumentException unexpected() {
        return new IllegalArgumentException("not JSON at position " + position);
    }
}
