/** What somebody asks for. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** As sent. */
  readonly body: string;
  /** Fires when whoever asked has hung up. */
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What becomes of one exchange. */
export type Reply = { readonly send: Answer } | 'cut the connection' | 'never answer';
