import { apiVersionOf, type KubeObject, type Resource } from '../objects/object.ts';
import { decodeText } from '../transport/body.ts';

/**
 * Reads as little as possible of received JSON: an object that cannot be wanted is not parsed. Everything here knows the form in which API
 * servers write built-in kinds, and returns undefined for any other form; then the caller parses the whole text.
 */

/** Whether the JSON of an object may contain a text. False positives only cost a parse. */
export type TextFilter = (bytes: Uint8Array) => boolean;

/** API servers never write these characters as escapes, but JSON allows it. */
const plainText = /^[\w./:-]+$/;

export const createTextFilter = (text: string): TextFilter => {
  if (!plainText.test(text)) throw new RangeError(`"${text}" may be escaped in JSON, so it cannot be searched for.`);
  const wanted = Buffer.from(text);
  return (bytes) => {
    const buffer = asBuffer(bytes);
    return buffer.includes(wanted) || escapesPlainText(buffer);
  };
};

const escapedSlash = Buffer.from('\\/');
const escapedCharacter = Buffer.from('\\u00');

const escapesPlainText = (buffer: Buffer): boolean => {
  if (buffer.includes(escapedSlash)) return true;
  for (let at = buffer.indexOf(escapedCharacter); at >= 0; at = buffer.indexOf(escapedCharacter, at)) {
    at += escapedCharacter.length;
    if (plainText.test(String.fromCharCode(Number.parseInt(buffer.toString('latin1', at, at + 2), 16)))) return true;
  }
  return false;
};

const asBuffer = (bytes: Uint8Array): Buffer =>
  bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

interface Identity {
  namespace?: string;
  name: string;
  uid: string;
  resourceVersion: string;
}

/** Name, namespace, uid and version come first in `metadata`, and contain no escapes. */
const eventStart =
  /^\{"type":"(?:ADDED|MODIFIED|DELETED)","object":\{"kind":"(\w+)","apiVersion":"([\w./-]+)","metadata":\{"name":"([a-z0-9.-]+)",(?:"generateName":"[a-z0-9.-]*",)?(?:"namespace":"([a-z0-9-]+)",)?(?:"selfLink":"[\w./-]*",)?"uid":"([\w-]+)","resourceVersion":"(\d+)"/;
const longestStart = 2048;

/** The object of a watch event other than BOOKMARK and ERROR. */
export const identityInEvent = (line: Uint8Array, resource: Resource<KubeObject>): Identity | undefined => {
  const start = asBuffer(line).toString('latin1', 0, longestStart);
  const [found, kind, apiVersion, name, namespace, uid, resourceVersion] = eventStart.exec(start) ?? [];
  if (found === undefined || kind !== resource.kind || apiVersion !== apiVersionOf(resource)) return undefined;
  if (name === undefined || uid === undefined || resourceVersion === undefined) return undefined;
  return { name, uid, resourceVersion, ...(namespace !== undefined && { namespace }) };
};

/** Metadata of a list: flat, so that `items` after it can only be those of the list. */
const pageStart = /^\{"kind":"\w+","apiVersion":"[\w./-]+","metadata":\{[^{}]*\},$/;
const itemsStart = Buffer.from('"items":[');

/** A list without the items that the filter excludes, as JSON. */
export const filterPage = (bytes: Uint8Array, mayContain: TextFilter): string | undefined => {
  const page = asBuffer(bytes);
  const at = page.indexOf(itemsStart);
  const start = page.toString('latin1', 0, Math.min(Math.max(at, 0), longestStart * 4));
  const end = page.lastIndexOf(']}');
  if (!pageStart.test(start) || at > start.length || end < at || !isBlank(page.subarray(end + 2))) return undefined;
  if (!mayContain(page)) return `${start}"items":[]}`;
  const items = splitItems(page, at + itemsStart.length, end);
  const wanted = items?.filter(mayContain).map(decodeText);
  return wanted && `${start}"items":[${wanted.join()}]}`;
};

export const isBlank = (bytes: Uint8Array): boolean => bytes.every((byte) => byte <= 0x20);

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Splits `{…},{…}` by the depth of braces outside of strings. */
const splitItems = (page: Buffer, from: number, to: number): Buffer[] | undefined => {
  const items: Buffer[] = [];
  for (let at = from; at < to; ) {
    if (items.length > 0 && page[at++] !== comma) return undefined;
    const end = page[at] === openBrace ? objectEnd(page, at, to) : undefined;
    if (end === undefined) return undefined;
    items.push(page.subarray(at, end));
    at = end;
  }
  return items;
};

/** The index after the closing brace of the object that begins at `from`. */
const objectEnd = (page: Buffer, from: number, to: number): number | undefined => {
  let depth = 0;
  for (let at = from; at < to; at++) {
    const byte = page[at];
    if (byte === quote) {
      while (at < to && page[++at] !== quote) if (page[at] === backslash) at++;
    } else if (byte === openBrace) depth++;
    else if (byte === closeBrace && --depth === 0) return at + 1;
  }
  return undefined;
};
