-- +goose Up

-- keep_records raises the floor of the retention to the longest that a worker was ever set to. It runs with the owner's
-- rights, so that the application role, which may not change the floor, can raise it and never lower it.
-- +goose StatementBegin
CREATE FUNCTION keep_records(months integer)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = analyze_retry, pg_temp AS $$
BEGIN
    IF months IS NULL OR months < 1 OR months > 600 THEN
        RAISE EXCEPTION 'records are kept for 1 to 600 months, not for %', months USING ERRCODE = 'invalid_parameter_value';
    END IF;
    UPDATE retention SET least = make_interval(months => keep_records.months)
        WHERE least < make_interval(months => keep_records.months);
END
$$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION keep_records FROM PUBLIC;
