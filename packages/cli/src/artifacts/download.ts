import { createWriteStream } from 'node:fs';
import http from 'node:http';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '@tartan/kube/clock';
import { type Checksum, createChecksumHash } from './checksum.ts';

export interface DownloadOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Told as bytes arrive: of how many, if the server said so. */
  readonly onProgress?: (bytes: number, of: number | undefined) => void;
  /** Bytes that are taken at most. */
  readonly maxBytes?: number;
}

/** The largest of them, the GitHub runner, has some 200 MB. */
const maxDownloadBytes = 512 * 1024 * 1024;
/** A server that is silent for so long will not go on. */
const stallMs = 30_000;
const maxRedirects = 10;

/** Whoever reads what others sent over plain HTTP reads what anybody on the way made of it. */
const isAllowed = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && /^(?:127\.0\.0\.1|\[::1\]|localhost)$/.test(hostname));

/**
 * Gets one file. Redirects are followed; `headers` are for the server that is named and for no other.
 * Rejects with an error made for people; whatever was written until then is for the caller to remove.
 */
export const download = async (
  {
    url,
    headers = {},
    to,
    kind,
  }: { url: string; headers?: Record<string, string>; to: string; kind: 'sha256' | 'integrity' },
  options: DownloadOptions,
): Promise<Checksum> => {
  const stallTimer = startStallTimer(options.clock);
  const signal = AbortSignal.any([options.signal, stallTimer.signal]);
  try {
    const response = await requestFollowingRedirects(new URL(url), headers, signal);
    const { hash, sum } = createChecksumHash(kind);
    const meter = metered(response, stallTimer, options, (chunk) => hash.update(chunk));
    if (response.body === null) throw new Error(`${url} answered with nothing.`);
    await pipeline(Readable.fromWeb(response.body), meter, createWriteStream(to, { flags: 'wx' }), { signal });
    return sum();
  } catch (error) {
    throw readableError(error, url, options.signal, stallTimer.signal);
  } finally {
    stallTimer.rest();
  }
};

/** A small document, such as what a registry says of a version. */
export const downloadText = async (
  { url, headers = {} }: { url: string; headers?: Record<string, string> },
  options: DownloadOptions,
): Promise<string> => {
  const stallTimer = startStallTimer(options.clock);
  const signal = AbortSignal.any([options.signal, stallTimer.signal]);
  try {
    const response = await requestFollowingRedirects(new URL(url), headers, signal);
    const chunks: Buffer[] = [];
    const meter = metered(response, stallTimer, { ...options, maxBytes: 8 * 1024 * 1024 }, (chunk) =>
      chunks.push(chunk),
    );
    if (response.body !== null) await pipeline(Readable.fromWeb(response.body), meter.resume(), { signal });
    return Buffer.concat(chunks).toString('utf8');
  } catch (error) {
    throw readableError(error, url, options.signal, stallTimer.signal);
  } finally {
    stallTimer.rest();
  }
};

const requestFollowingRedirects = async (
  first: URL,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Response> => {
  let url = first;
  for (let hops = 0; hops <= maxRedirects; hops += 1) {
    if (!isAllowed(url)) throw new Error(`${url.href} is not https.`);
    // What is packed already must arrive as it is.
    const own = { 'accept-encoding': 'identity', 'user-agent': 'tartan', ...(url.origin === first.origin && headers) };
    const response = await fetch(url, { headers: own, redirect: 'manual', signal });
    const location = response.headers.get('location');
    if (response.ok) return response;
    await response.body?.cancel();
    if (response.status < 300 || response.status >= 400 || location === null)
      throw new Error(`${url.origin}${url.pathname} answered ${response.status} ${response.statusText}`.trim());
    url = new URL(location, url);
  }
  throw new Error(`${first.href} leads from one place to the next, and after ${maxRedirects} nowhere.`);
};

const metered = (
  response: Response,
  watch: { alive(): void },
  { maxBytes = maxDownloadBytes, onProgress }: DownloadOptions,
  each: (chunk: Buffer) => void,
): Transform => {
  const said = Number(response.headers.get('content-length') ?? Number.NaN);
  const of = Number.isNaN(said) ? undefined : said;
  const tooLarge = (): Error => new Error(`it has more than ${maxBytes} bytes, the most that is taken.`);
  let bytes = 0;
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      watch.alive();
      bytes += chunk.length;
      if (bytes > maxBytes || (of ?? 0) > maxBytes) return done(tooLarge());
      each(chunk);
      onProgress?.(bytes, of);
      done(null, chunk);
    },
    flush: (done) => done(of !== undefined && of !== bytes ? new Error(`${bytes} of ${of} bytes came.`) : null),
  });
};

const startStallTimer = (clock: Clock) => {
  const silence = new AbortController();
  let takeBack = clock.after(stallMs, () => silence.abort());
  return {
    signal: silence.signal,
    alive: () => {
      takeBack();
      takeBack = clock.after(stallMs, () => silence.abort());
    },
    rest: () => takeBack(),
  };
};

const readableError = (error: unknown, url: string, asked: AbortSignal, silence: AbortSignal): Error => {
  if (asked.aborted) return new Error('stopped.');
  if (silence.aborted) return new Error(`nothing came from ${url} for ${stallMs / 1000} seconds.`);
  const text = error instanceof Error ? error.message : String(error);
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return new Error(`${text}${cause}`, { cause: error });
};

/**
 * Works through the proxies that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name, as curl does. Node takes them only where it is told to, and
 * knows how since 24.14: on an older one they are not taken.
 */
export const withProxies = async <T>(env: NodeJS.ProcessEnv, work: () => Promise<T>): Promise<T> => {
  const names = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'];
  const isKnown = 'setGlobalProxyFromEnv' in http;
  const restore = isKnown && names.some((name) => env[name]) ? http.setGlobalProxyFromEnv(env) : () => {};
  try {
    return await work();
  } finally {
    // It holds for the whole process, which may have something else to do.
    restore();
  }
};
