import type { Environment } from '@marcbachmann/cel-js';
import { quantityFormatError, readQuantity } from '../../quantity.ts';
import { functionRegistrar } from './register.ts';

const one = 1_000_000_000n;

class Quantity {
  readonly billionths: bigint;
  constructor(billionths: bigint) {
    this.billionths = billionths;
  }
}

const parse = (text: string): Quantity | undefined => {
  const read = readQuantity(text);
  return read && new Quantity(read.nanos);
};

const quantity = (text: string): Quantity => {
  const parsed = parse(text);
  if (!parsed) throw new Error(quantityFormatError);
  return parsed;
};

const compared = (a: Quantity, b: Quantity): bigint =>
  a.billionths < b.billionths ? -1n : a.billionths > b.billionths ? 1n : 0n;

const asInteger = (value: Quantity): bigint => {
  if (value.billionths % one !== 0n) throw new Error('cannot convert value to integer');
  return value.billionths / one;
};

export const registerQuantities = (environment: Environment): void => {
  const add = functionRegistrar(environment);
  environment.registerType('Quantity', { ctor: Quantity, fields: {} });
  environment.registerOperator('Quantity == Quantity', (a: Quantity, b: Quantity) => compared(a, b) === 0n);
  add('quantity(string): Quantity', quantity);
  add('isQuantity(string): bool', (text: string) => parse(text) !== undefined);
  add('Quantity.isInteger(): bool', (value: Quantity) => value.billionths % one === 0n);
  add('Quantity.asInteger(): int', asInteger);
  add('Quantity.asApproximateFloat(): double', (value: Quantity) => Number(value.billionths) / Number(one));
  add('Quantity.sign(): int', (value: Quantity) => compared(value, new Quantity(0n)));
  add('Quantity.isGreaterThan(Quantity): bool', (a: Quantity, b: Quantity) => compared(a, b) > 0n);
  add('Quantity.isLessThan(Quantity): bool', (a: Quantity, b: Quantity) => compared(a, b) < 0n);
  add('Quantity.compareTo(Quantity): int', compared);
  add('Quantity.add(Quantity): Quantity', (a: Quantity, b: Quantity) => new Quantity(a.billionths + b.billionths));
  add('Quantity.add(int): Quantity', (a: Quantity, b: bigint) => new Quantity(a.billionths + b * one));
  add('Quantity.sub(Quantity): Quantity', (a: Quantity, b: Quantity) => new Quantity(a.billionths - b.billionths));
  add('Quantity.sub(int): Quantity', (a: Quantity, b: bigint) => new Quantity(a.billionths - b * one));
};
