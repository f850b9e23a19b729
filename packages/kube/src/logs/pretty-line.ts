import type { Head } from './head.ts';
import type { Plain } from './plain-value.ts';

/** `12:00:00.000 WARN  message  key=value`, stacks below. Nothing in it can move the cursor or colour the terminal. */
export const prettyLine = ({ ts, level, msg }: Head, members: { [key: string]: Plain }): string => {
  const fields = Object.entries(members).map(([key, value]) => `${printable(key)}=${shown(value)}`);
  const stacks = Object.values(members).flatMap(stackOf);
  return [
    [`${ts.slice(11, 23)} ${level.toUpperCase().padEnd(5)} ${printable(msg)}`, ...fields].join('  '),
    ...stacks,
  ].join('\n');
};

const shown = (value: Plain): string => {
  if (typeof value === 'string') return /^[\w.:/@%+,-]+$/.test(value) ? value : printable(JSON.stringify(value));
  const stack = stackOf(value).length > 0;
  return printable(JSON.stringify(stack && isMap(value) ? { ...value, stack: undefined } : value));
};

const stackOf = (value: Plain): string[] => {
  const stack = isMap(value) ? value['stack'] : undefined;
  return typeof stack === 'string' ? stack.split('\n').map((line) => `    ${printable(line.trim())}`) : [];
};

const isMap = (value: Plain): value is { [key: string]: Plain } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Control and formatting characters as escapes: a log line may hold what a stranger wrote. */
const printable = (text: string): string =>
  text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
