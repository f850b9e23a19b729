import { createWriteStream } from 'node:fs';
import http from 'node:http';
import { Readable, Transform } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { errorMessage } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { type ChecksumKind, checksumOf, newHash } from './checksum.ts';

export interface DownloadOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** `total`: if the server has sent it. */
  readonly onProgress?: (bytes: number, total: number | undefined) => void;
  /** Default: 512 MiB. */
  readonly maxBytes?: number;
}

/** The largest artifact, the GitHub runner, has some 200 MB. */
const maxDownloadBytes = 512 * 1024 * 1024;
const stallMs = 30_000;
const maxRedirects = 10;

/** Plain HTTP is allowed only on this machine. */
const isAllowed = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && /^(?:127\.0\.0\.1|\[::1\]|localhost)$/.test(hostname));

interface Source {
  readonly url: string;
  /** Only for the first server, not for redirects to others. */
  readonly headers: Record<string, string>;
}

/** Requests a URL and consumes its body. Rejects with an error for people; the caller removes what was written. */
const receive = async <T>(
  { url, headers }: Source,
  options: DownloadOptions,
  consume: (body: Readable, meter: Transform, signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const stallTimer = startStallTimer(options.clock);
  const signal = AbortSignal.any([options.signal, stallTimer.signal]);
  try {
    const response = await requestFollowingRedirects(new URL(url), headers, signal);
    if (response.body === null) throw new Error(`${url} has no content.`);
    return await consume(Readable.fromWeb(response.body), createMeter(response, stallTimer, options), signal);
  } catch (error) {
    throw readableError(error, url, options.signal, stallTimer.signal);
  } finally {
    stallTimer.cancel();
  }
};

/** Downloads a file, and returns its checksum. */
export const download = (
  source: Source & { readonly to: string; readonly kind: ChecksumKind },
  options: DownloadOptions,
): Promise<string> =>
  receive(source, options, async (body, meter, signal) => {
    const hash = newHash(source.kind);
    meter.on('data', (chunk: Buffer) => hash.update(chunk));
    await pipeline(body, meter, createWriteStream(source.to, { flags: 'wx' }), { signal });
    return checksumOf(source.kind, hash);
  });

/** Downloads a small document. */
export const downloadText = (source: Source, options: DownloadOptions): Promise<string> =>
  receive(source, { ...options, maxBytes: 8 * 1024 * 1024 }, (body, meter, signal) =>
    pipeline(body, meter, text, { signal }),
  );

const requestFollowingRedirects = async (
  first: URL,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Response> => {
  let url = first;
  for (let hops = 0; hops <= maxRedirects; hops += 1) {
    if (!isAllowed(url)) throw new Error(`${url.href} is not https.`);
    const own = { 'accept-encoding': 'identity', 'user-agent': 'tartan', ...(url.origin === first.origin && headers) };
    const response = await fetch(url, { headers: own, redirect: 'manual', signal });
    const location = response.headers.get('location');
    if (response.ok) return response;
    await response.body?.cancel();
    if (response.status < 300 || response.status >= 400 || location === null)
      throw new Error(`${url.origin}${url.pathname} answered ${response.status} ${response.statusText}`.trim());
    url = new URL(location, url);
  }
  throw new Error(`${first.href} has more than ${maxRedirects} redirects.`);
};

/** Counts bytes, and rejects more than expected or allowed. */
const createMeter = (
  response: Response,
  stallTimer: { restart(): void },
  { maxBytes = maxDownloadBytes, onProgress }: DownloadOptions,
): Transform => {
  const length = response.headers.get('content-length');
  const total = length === null ? undefined : Number(length);
  let bytes = 0;
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      stallTimer.restart();
      bytes += chunk.length;
      if (Math.max(bytes, total ?? 0) > maxBytes) return done(new Error(`the file has more than ${maxBytes} bytes.`));
      onProgress?.(bytes, total);
      done(null, chunk);
    },
    flush: (done) =>
      done(total !== undefined && total !== bytes ? new Error(`only ${bytes} of ${total} bytes arrived.`) : null),
  });
};

const startStallTimer = (clock: Clock) => {
  const stalled = new AbortController();
  const start = (): (() => void) => clock.after(stallMs, () => stalled.abort());
  let cancel = start();
  return {
    signal: stalled.signal,
    restart: () => {
      cancel();
      cancel = start();
    },
    cancel: () => cancel(),
  };
};

const readableError = (error: unknown, url: string, stopped: AbortSignal, stalled: AbortSignal): Error => {
  if (stopped.aborted) return new Error('stopped.');
  if (stalled.aborted) return new Error(`${url} sent no data for ${stallMs / 1000} seconds.`);
  const message = errorMessage(error);
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return new Error(`${message}${cause}`, { cause: error });
};

/** Uses HTTPS_PROXY, HTTP_PROXY and NO_PROXY, as curl does. Node.js supports this since 24.14; older versions ignore them. */
export const withProxies = async <T>(env: NodeJS.ProcessEnv, work: () => Promise<T>): Promise<T> => {
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'];
  const isSupported = 'setGlobalProxyFromEnv' in http;
  const restore = isSupported && names.some((name) => env[name]) ? http.setGlobalProxyFromEnv(env) : () => {};
  try {
    return await work();
  } finally {
    // The setting is global.
    restore();
  }
};
