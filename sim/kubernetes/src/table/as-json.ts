import type { Json } from '../object.ts';

/** Objects come from JSON and go to JSON; only their interfaces do not say so. */
const isJson = (_value: unknown): _value is Json => true;

export const asJson = (value: unknown): Json => (isJson(value) ? value : null);
