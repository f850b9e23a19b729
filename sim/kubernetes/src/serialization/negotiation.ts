import { ApiError, notAcceptable } from '../errors/api-error.ts';
import type { PlainResponse } from '../http-messages.ts';
import { printYaml } from './yaml.ts';

/** The response format that a client accepts. */
export interface Negotiated {
  as: 'object' | 'table' | 'partial';
  /** `PartialObjectMetadataList` was asked for, not `PartialObjectMetadata`. */
  list: boolean;
  /** `apiVersion` of a Table or of PartialObjectMetadata: meta.k8s.io/v1 or /v1beta1. */
  apiVersion: string;
  format: 'json' | 'yaml';
  pretty: boolean;
}

export interface Clause {
  type: string;
  subtype: string;
  quality: number;
  parameters: Readonly<Record<string, string>>;
}

const json = 'application/json';
const yaml = 'application/yaml';
const protobuf = 'application/vnd.kubernetes.protobuf';

const parseClause = (text: string): Clause | undefined => {
  const [range = '', ...rest] = text.trim().split(';');
  const [type = '', subtype = type === '*' ? '*' : '', ...more] = range.split('/').map((part) => part.trim());
  if (subtype === '' || more.length > 0) return undefined;
  const parameters: Record<string, string> = {};
  let quality = 1;
  for (const entry of rest) {
    const [name = '', value = '', ...extra] = entry.split('=').map((part) => part.trim());
    if (value === '' || extra.length > 0 || name === '__proto__') continue;
    if (name === 'q') quality = Number(value) || 0;
    else parameters[name] = value;
  }
  return { type, subtype, quality, parameters };
};

const precision = (clause: Clause): number => (clause.type === '*' ? 2 : clause.subtype === '*' ? 1 : 0);

/** The clauses of an Accept header, best first. */
export const parseAccept = (header: string): Clause[] =>
  header
    .split(',')
    .flatMap((part) => parseClause(part) ?? [])
    .sort((a, b) => b.quality - a.quality || precision(a) - precision(b));

/** Whether a clause matches a media type. */
export const covers = (clause: Clause, mediaType: string): boolean => {
  const [type, subtype] = mediaType.split('/');
  return (
    (clause.type === type && (clause.subtype === subtype || clause.subtype === '*')) ||
    (clause.type === '*' && clause.subtype === '*')
  );
};

type Shape = Pick<Negotiated, 'as' | 'list' | 'apiVersion'>;

/** The format that the parameters `as`, `g` and `v` select; undefined for an unknown one. */
const shapeOf = ({ as, g, v }: Readonly<Record<string, string>>): Shape | undefined => {
  if (as === undefined && g === undefined && v === undefined) return { as: 'object', list: false, apiVersion: '' };
  if (g !== 'meta.k8s.io' || (v !== 'v1' && v !== 'v1beta1')) return undefined;
  const apiVersion = `${g}/${v}`;
  if (as === 'Table') return { as: 'table', list: false, apiVersion };
  if (as === 'PartialObjectMetadata') return { as: 'partial', list: false, apiVersion };
  if (as === 'PartialObjectMetadataList') return { as: 'partial', list: true, apiVersion };
  return undefined;
};

/** go-restful checks the header first. It knows neither parameters nor `application/*`, and has its own error text. */
const passesRouter = (header: string, offered: readonly string[]): boolean =>
  header.split(',').some((part) => {
    const range = part.split(';', 1)[0]?.trim() ?? '';
    return range === '*/*' || offered.includes(range);
  });

const routerRefusal = (offered: readonly string[]): ApiError =>
  new ApiError(406, 'NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${offered.join(', ')}`, {});

/** The router refuses built-in paths when the client accepts none of `offered`. */
export const checkRouter = (accept: string | undefined, offered: readonly string[] = [json, yaml, protobuf]): void => {
  if (accept && !passesRouter(accept, offered)) throw routerRefusal(offered);
};

export interface NegotiateOptions {
  watch?: boolean;
  /** Whether the endpoint supports watch; `watch` says whether this request is one. */
  watchable?: boolean;
  custom?: boolean;
  /** The response has no Table or PartialObjectMetadata form. */
  plain?: boolean;
}

/**
 * Evaluates the Accept header. The real server can answer in protobuf for built-in kinds; this one cannot, so it skips such a clause, and a
 * client that accepts nothing else gets a 406 with the supported types.
 */
export const negotiate = (accept: string | undefined, options: NegotiateOptions = {}): Negotiated => {
  const watch = options.watch ?? false;
  const streams = [`${json};stream=watch`, `${protobuf};stream=watch`];
  if (!accept) return { as: 'object', list: false, apiVersion: '', format: 'json', pretty: false };
  if (!(options.custom ?? false)) {
    const offered = [json, yaml, protobuf];
    if (!passesRouter(accept, offered)) {
      throw routerRefusal(watch || options.watchable ? [...offered, ...streams] : offered);
    }
  }
  const clauses = parseAccept(accept);
  for (const clause of clauses) {
    for (const format of ['json', 'yaml'] as const) {
      if (!covers(clause, `application/${format}`)) continue;
      const { stream } = clause.parameters;
      if (stream !== undefined && (stream !== 'watch' || format === 'yaml')) continue;
      const shape = shapeOf(clause.parameters);
      if (!shape || (options.plain && shape.as !== 'object')) continue;
      if (watch && format === 'yaml') throw notAcceptable(streams);
      return { ...shape, format, pretty: clause.parameters['pretty'] === '1' };
    }
  }
  const wantsProtobuf = clauses.some((clause) => clause.subtype === 'vnd.kubernetes.protobuf');
  throw notAcceptable(wantsProtobuf ? [json, yaml] : [json, yaml, protobuf]);
};

/** Encodes a response in the negotiated format. */
export const encodeResponse = (
  wanted: Pick<Negotiated, 'format' | 'pretty'>,
  code: number,
  object: unknown,
  headers: Record<string, string> = {},
): PlainResponse => ({
  kind: 'answer',
  code,
  headers: { 'content-type': `application/${wanted.format}`, ...headers },
  body:
    wanted.format === 'yaml'
      ? printYaml(object)
      : wanted.pretty
        ? JSON.stringify(object, undefined, 2)
        : `${JSON.stringify(object)}\n`,
});

export const textResponse = (code: number, text: string): PlainResponse => ({
  kind: 'answer',
  code,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  body: text,
});

export const pageNotFound = (): PlainResponse => textResponse(404, '404 page not found\n');
