import type { Image } from '../servers/images.ts';
import type { Key } from '../keys/key.ts';

/** What somebody asks for. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** `X-Auth-Token`. */
  readonly token: string | undefined;
  /** As sent. */
  readonly body: string;
}

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What becomes different by a request. The answer alone changes nothing. */
export type Change =
  | { readonly kind: 'rename'; readonly id: string; readonly name: string }
  | { readonly kind: 'reboot'; readonly id: string }
  | { readonly kind: 'reinstall'; readonly id: string; readonly image: Image }
  | { readonly kind: 'delete server'; readonly id: string }
  | { readonly kind: 'create key'; readonly key: Key }
  | { readonly kind: 'delete key'; readonly id: string };

export interface Outcome {
  readonly answer: Answer;
  readonly change?: Change;
}
