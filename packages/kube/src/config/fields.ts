import { isRecord } from '../errors/json.ts';
import { ConfigError, type Place } from './config-error.ts';

/** Reads a parsed document member by member: each is what it should be, absent, or a ConfigError that names it. */
export interface Fields {
  readonly place: Place;
  placeOf(name: string): Place;
  /** Empty text counts as absent, as it does for kubectl. */
  text(name: string): string | undefined;
  flag(name: string): boolean;
  map(name: string): Fields | undefined;
  maps(name: string): Fields[];
  texts(name: string): string[];
  /** Whatever is there. */
  raw(name: string): unknown;
}

export const fieldsOf = (place: Place, value: unknown): Fields => {
  if (!isRecord(value)) throw new ConfigError(place, `must be a map, but is ${article(value)}.`);
  const placeOf = (name: string): Place => below(place, place.field === '' ? name : `.${name}`);
  const member = (name: string): unknown => (Object.hasOwn(value, name) ? (value[name] ?? undefined) : undefined);
  const list = (name: string): { at: Place; item: unknown }[] => {
    const items = member(name) ?? [];
    if (!Array.isArray(items)) throw new ConfigError(placeOf(name), `must be a list, but is ${article(items)}.`);
    return items.map((item: unknown, index) => ({ at: below(placeOf(name), `[${index}]`), item }));
  };
  return {
    place,
    placeOf,
    raw: member,
    text: (name) => textAt(placeOf(name), member(name)),
    flag: (name) => {
      const found = member(name) ?? false;
      if (typeof found !== 'boolean')
        throw new ConfigError(placeOf(name), `must be true or false, but is ${article(found)}.`);
      return found;
    },
    map: (name) => {
      const found = member(name);
      return found === undefined ? undefined : fieldsOf(placeOf(name), found);
    },
    maps: (name) => list(name).map(({ at, item }) => fieldsOf(at, item)),
    texts: (name) => list(name).map(({ at, item }) => textAt(at, item) ?? ''),
  };
};

const textAt = (place: Place, value: unknown): string | undefined => {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  throw new ConfigError(place, `must be text, but is ${article(value)}. Put quotes around it.`);
};

const below = ({ file, field }: Place, rest: string): Place => ({ file, field: `${field}${rest}` });

/** Never the value itself: it may be a secret in the wrong place. */
const article = (value: unknown): string => {
  if (value === null || value === undefined) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  return typeof value === 'string' ? 'text' : `a ${typeof value}`;
};
