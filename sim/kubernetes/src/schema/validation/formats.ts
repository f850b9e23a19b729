import { isIPv4, isIPv6 } from 'node:net';
import { isDuration } from '../../go/time.ts';

/** String formats that the real server checks. It ignores all others. */

const isDate = (value: string): boolean => {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(value);
  if (!match) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
};

const isDateTime = (value: string): boolean => {
  const [date = '', time] = value.toLowerCase().split('t');
  const match = /^(\d{2}):(\d{2}):(\d{2})(.\d+)?(z|[+-]\d{2}:\d{2})$/.exec(time ?? '');
  return match !== null && isDate(date) && Number(match[1]) < 24 && Number(match[2]) < 60 && Number(match[3]) < 60;
};

const isUri = (value: string): boolean => {
  if (/[\s\p{Cc}]/u.test(value)) return false;
  return value.startsWith('/') || /^[a-zA-Z][a-zA-Z0-9+.-]*:./.test(value);
};

const isHostname = (value: string): boolean =>
  value.length <= 255 &&
  value.split('.').every((label) => label.length <= 63) &&
  /^([a-zA-Z0-9\p{S}\p{L}](-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|([a-zA-Z0-9\p{S}\p{L}]([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u.test(
    value,
  );

const isCidr = (value: string): boolean => {
  const [address = '', bits = '', ...rest] = value.split('/');
  if (rest.length > 0 || !/^(0|[1-9]\d*)$/.test(bits)) return false;
  return (isIPv4(address) && Number(bits) <= 32) || (isIPv6(address) && Number(bits) <= 128);
};

const hexGroups = (count: number, separator: string, digits: number): string =>
  `[0-9a-fA-F]{${digits}}(${separator}[0-9a-fA-F]{${digits}}){${count - 1}}`;
const mac = new RegExp(
  `^(${[6, 8, 20].flatMap((bytes) => [hexGroups(bytes, ':', 2), hexGroups(bytes, '-', 2), hexGroups(bytes / 2, '\\.', 4)]).join('|')})$`,
);

const uuid = (version: string, variant: string): RegExp =>
  new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?${variant}[0-9a-f]{3}-?[0-9a-f]{12}$`, 'i');

const weighted = (digits: string, weight: (index: number) => number): number =>
  Array.from(digits).reduce((sum, digit, index) => sum + weight(index) * (digit === 'X' ? 10 : Number(digit)), 0);

const isIsbn10 = (value: string): boolean => {
  const digits = value.replaceAll(/[\s-]/g, '');
  return /^\d{9}[\dX]$/.test(digits) && weighted(digits, (index) => 10 - index) % 11 === 0;
};

const isIsbn13 = (value: string): boolean => {
  const digits = value.replaceAll(/[\s-]/g, '');
  return /^\d{13}$/.test(digits) && weighted(digits, (index) => (index % 2 === 0 ? 1 : 3)) % 10 === 0;
};

const isCreditCard = (value: string): boolean => {
  const digits = value.replaceAll(/\D/g, '');
  const doubled = Array.from(digits)
    .reverse()
    .map((digit, index) => Number(digit) * (index % 2 === 0 ? 1 : 2));
  return (
    /^\d{13,19}$/.test(digits) && doubled.reduce((sum, digit) => sum + (digit > 9 ? digit - 9 : digit), 0) % 10 === 0
  );
};

const shortName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const longName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const matches = (pattern: RegExp) => (value: string) => pattern.test(value);

const formats: Readonly<Record<string, (value: string) => boolean>> = {
  bsonobjectid: matches(/^[0-9a-fA-F]{24}$/),
  uri: isUri,
  email: matches(/^(?:[^<>]*<)?[^\s@<>()[\],;:\\"]+@[^\s@<>()[\],;:\\"]+>?$/),
  hostname: isHostname,
  ipv4: (value) => isIPv4(value),
  ipv6: (value) => isIPv6(value) && !value.includes('%'),
  cidr: isCidr,
  mac: matches(mac),
  uuid: matches(uuid('[0-9a-f]', '[0-9a-f]')),
  uuid3: matches(uuid('3', '[0-9a-f]')),
  uuid4: matches(uuid('4', '[89ab]')),
  uuid5: matches(uuid('5', '[89ab]')),
  isbn: (value) => isIsbn10(value) || isIsbn13(value),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  hexcolor: matches(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  rgbcolor: matches(
    /^rgb\(\s*(\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])(\s*,\s*(\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])){2}\s*\)$/,
  ),
  byte: matches(base64),
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  k8sshortname: (value) => value.length <= 63 && shortName.test(value),
  k8slongname: (value) => value.length <= 253 && longName.test(value),
};

/** The check of a format, or undefined for one that is not checked. Dashes in the name are ignored. */
export const stringFormat = (name: string): ((value: string) => boolean) | undefined => {
  const key = name.replaceAll('-', '');
  return Object.hasOwn(formats, key) ? formats[key] : undefined;
};
