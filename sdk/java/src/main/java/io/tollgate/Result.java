package io.tollgate;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** An object of a response, with the names of the API reference. */
public final class Result {
    private final Map<String, Object> values;

    Result(Map<String, Object> values) {
        this.values = Collections.unmodifiableMap(values);
    }

    /** The text, or null if there is none. */
    public String getString(String name) {
        Object value = values.get(name);
        return value == null ? null : value.toString();
    }

    /** The number, 0 if there is none. */
    public long getLong(String name) {
        Object value = values.get(name);
        return value instanceof Number ? ((Number) value).longValue() : 0;
    }

    public boolean getBoolean(String name) {
        return Boolean.TRUE.equals(values.get(name));
    }

    public boolean isNull(String name) {
        return values.get(name) == null;
    }

    /** The object, empty if there is none. */
    public Result getResult(String name) {
        return of(values.get(name));
    }

    /** The objects of a list, empty if there is none. */
    public List<Result> getResults(String name) {
        return listOf(values.get(name));
    }

    /** The texts of a list, empty if there is none. */
    public List<String> getStrings(String name) {
        List<String> list = new ArrayList<>();
        Object value = values.get(name);
        if (value instanceof List) for (Object item : (List<?>) value) list.add(String.valueOf(item));
        return list;
    }

    /** All values: maps, lists, strings, longs, doubles, booleans and nulls. */
    public Map<String, Object> toMap() {
        return values;
    }

    @Override
    public String toString() {
        return Json.write(values);
    }

    @SuppressWarnings("unchecked")
    static Result of(Object value) {
        return new Result(value instanceof Map ? (Map<String, Object>) value : Collections.emptyMap());
    }

    static List<Result> listOf(Object value) {
        List<Result> list = new ArrayList<>();
        if (value instanceof List) for (Object item : (List<?>) value) list.add(of(item));
        return list;
    }
}
