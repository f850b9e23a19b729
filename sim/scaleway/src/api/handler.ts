import type { ScalewayFaults } from '../scaleway.ts';
import type { Image } from '../servers/images.ts';
import type { ServerRecord } from '../servers/server-record.ts';
import { invalidArgument } from './errors.ts';
import type { Key } from './ssh-keys.ts';

/** An HTTP request. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** `X-Auth-Token`. */
  readonly token: string | undefined;
  /** As sent. */
  readonly body: string;
}

export interface ApiResponse {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The effect of a request. The answer alone changes nothing. */
export type Change =
  | { readonly kind: 'rename'; readonly id: string; readonly name: string }
  | { readonly kind: 'reboot'; readonly id: string }
  | { readonly kind: 'reinstall'; readonly id: string; readonly image: Image }
  | { readonly kind: 'delete server'; readonly id: string }
  | { readonly kind: 'create key'; readonly key: Key }
  | { readonly kind: 'delete key'; readonly id: string };

export interface Outcome {
  readonly answer: ApiResponse;
  readonly change?: Change;
}

/** Everything that an answer depends on, at one time. */
export interface Snapshot {
  readonly now: number;
  readonly pace: number;
  readonly organizationID: string;
  /** The project of the key, if it is limited to one. */
  readonly projectID: string | undefined;
  readonly secretKey: string;
  readonly permissions: readonly string[];
  /** In the order of creation. */
  readonly servers: ReadonlyMap<string, ServerRecord>;
  readonly images: readonly Image[];
  readonly keys: ReadonlyMap<string, Key>;
  readonly faults: Pick<ScalewayFaults, 'renameWhileReinstalling' | 'password' | 'goneServer'>;
  readonly newID: () => string;
}

/** Whether the key has access to that project. */
export const canAccess = (snapshot: Snapshot, projectID: string): boolean =>
  snapshot.projectID === undefined || snapshot.projectID === projectID;

/** The fields of a JSON object; undefined if it is none. An empty body is an empty object. */
export const parseBody = (body: string): Readonly<Record<string, unknown>> | undefined => {
  if (body === '') return {};
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
};

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isUUID = (text: string): boolean => uuidPattern.test(text);

/** The default of `page_size`. */
const defaultPageSize = 20;
/** As in the SDK's `validation-rules.gen.js` for IAM. */
const maxPageSize = 100;
const lastPage = 10_000;

const wholeNumber = (text: string | null, otherwise: number): number =>
  text === null ? otherwise : /^\d+$/.test(text) ? Number(text) : Number.NaN;

/** One page of a list, with the total number of items: `{ servers: [...], total_count: 57 }`. */
export const paginate = <T>(
  query: URLSearchParams,
  name: string,
  items: readonly T[],
  show: (item: T) => unknown,
): ApiResponse => {
  const number = wholeNumber(query.get('page'), 1);
  const size = wholeNumber(query.get('page_size'), defaultPageSize);
  if (!(number >= 1 && number <= lastPage)) return invalidArgument('page', 'constraint', `1 to ${lastPage}`);
  if (!(size >= 1 && size <= maxPageSize)) return invalidArgument('page_size', 'constraint', `1 to ${maxPageSize}`);
  const start = (number - 1) * size;
  return { status: 200, body: { [name]: items.slice(start, start + size).map(show), total_count: items.length } };
};
