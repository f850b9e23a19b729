/** Quantities of Kubernetes: `500m`, `16Gi`, `1e3`. Exact to 10⁻⁹, like in Kubernetes. */

type Format = 'decimal' | 'binary' | 'exponent';

export interface Quantity {
  /** In units of 10⁻⁹. */
  nanos: bigint;
  format: Format;
  /** Set when the server returns the client's own spelling. */
  spelling?: string;
}

const nano = 1_000_000_000n;
const milli = 1_000_000n;

const decimalSuffixes: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const binarySuffixes: Readonly<Record<string, bigint>> = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n };

export const quantityFormatError =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** Smaller fractions are rounded away from zero. */
const roundedUp = (numerator: bigint, denominator: bigint): bigint => {
  const quotient = numerator / denominator;
  if (quotient * denominator === numerator) return quotient;
  return numerator < 0n ? quotient - 1n : quotient + 1n;
};

interface Scale {
  factor: bigint;
  divisor: bigint;
  format: Format;
  power: number;
}

const scaleOf = (suffix: string): Scale | undefined => {
  const shift = Object.hasOwn(binarySuffixes, suffix) ? binarySuffixes[suffix] : undefined;
  if (shift !== undefined) return { factor: 1n << shift, divisor: 1n, format: 'binary', power: Number(shift) };
  const exponent = /^[eE]([-+]?\d{1,3})$/.exec(suffix);
  const power = exponent
    ? Number(exponent[1])
    : Object.hasOwn(decimalSuffixes, suffix)
      ? decimalSuffixes[suffix]
      : undefined;
  if (power === undefined) return undefined;
  const format = exponent ? 'exponent' : 'decimal';
  return power < 0
    ? { factor: 1n, divisor: 10n ** BigInt(-power), format, power }
    : { factor: 10n ** BigInt(power), divisor: 1n, format, power };
};

/** The real server has a shortcut: what looks canonical is kept as written, so `+1`, `5.` and `1.500` come back unchanged. */
const looksCanonical = (whole: string, fraction: string, { format, power }: Scale): boolean => {
  const digits = `${whole.replace(/^0+/, '') || '0'}${fraction}`;
  if (format === 'binary') {
    const room = 15 - digits.length - Math.trunc((power * 3) / 10) - 1;
    return fraction === '' && room >= 0 && (BigInt(digits) & 7n) !== 0n;
  }
  const scale = power - fraction.length;
  return digits.length <= 18 && scale >= -9 && scale % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0');
};

/** undefined for an invalid quantity. */
export const readQuantity = (text: string): Quantity | undefined => {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?([A-Za-z]*(?:[-+]?\d+)?)$/.exec(text);
  if (!match) return undefined;
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match;
  if (whole === '' && fraction === '') return undefined;
  const scale = scaleOf(suffix);
  if (!scale) return undefined;
  const digits = BigInt(`${whole}${fraction}`) * (sign === '-' ? -1n : 1n);
  const nanos = roundedUp(digits * scale.factor * nano, 10n ** BigInt(fraction.length) * scale.divisor);
  return { nanos, format: scale.format, ...(looksCanonical(whole, fraction, scale) ? { spelling: text } : {}) };
};

export const compareQuantities = (a: string, b: string): number => {
  const difference = (readQuantity(a)?.nanos ?? 0n) - (readQuantity(b)?.nanos ?? 0n);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
};

export const addQuantities = (a: string, b: string): string => {
  const [left, right] = [readQuantity(a), readQuantity(b)];
  if (!left || !right) return left ? a : b;
  return formatQuantity({ nanos: left.nanos + right.nanos, format: left.nanos === 0n ? right.format : left.format });
};

const decimal = ({ nanos, format }: Quantity): string => {
  let mantissa = nanos;
  let exponent = -9;
  while (mantissa % 1000n === 0n) {
    mantissa /= 1000n;
    exponent += 3;
  }
  if (format === 'exponent') return exponent === 0 ? `${mantissa}` : `${mantissa}e${exponent}`;
  const suffix = Object.entries(decimalSuffixes).find(([, power]) => power === exponent)?.[0];
  return suffix === undefined ? `${mantissa}e${exponent}` : `${mantissa}${suffix}`;
};

const binary = (value: bigint): string => {
  let mantissa = value;
  let steps = 0;
  while (mantissa % 1024n === 0n && steps < 6) {
    mantissa /= 1024n;
    steps++;
  }
  return `${mantissa}${['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'][steps]}`;
};

/** The canonical spelling of Kubernetes: no fraction, and the largest suffix that allows that. */
const formatQuantity = (quantity: Quantity): string => {
  const { nanos, format, spelling } = quantity;
  if (spelling !== undefined) return spelling;
  if (nanos === 0n) return '0';
  const small = nanos > -1024n * nano && nanos < 1024n * nano;
  if (format === 'binary' && !small && nanos % nano === 0n) return binary(nanos / nano);
  return decimal(format === 'binary' ? { nanos, format: 'decimal' } : quantity);
};

export const canonicalQuantity = (text: string | number): string | undefined => {
  const quantity = readQuantity(String(text));
  return quantity && formatQuantity(quantity);
};

/** Resource amounts are rounded to a thousandth. */
export const canonicalResourceQuantity = (text: string | number): string | undefined => {
  const quantity = readQuantity(String(text));
  if (!quantity) return undefined;
  const nanos = roundedUp(quantity.nanos, milli) * milli;
  return formatQuantity(nanos === quantity.nanos ? quantity : { nanos, format: quantity.format });
};

export const isWhole = (text: string): boolean => (readQuantity(text)?.nanos ?? 0n) % nano === 0n;
