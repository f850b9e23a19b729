import { createSharedReads } from '@tartan/kube';
import { type Clock, type Random, systemClock } from '@tartan/kube/clock';
import { keyCalls } from './calls/keys.ts';
import { serverCalls } from './calls/servers.ts';
import { createRedaction } from './errors/redaction.ts';
import { ScalewayError } from './errors/scaleway-error.ts';
import type { HostPool, Image, Server } from './host-pool.ts';
import { createRateLimit } from './http/rate-limit.ts';
import { type CallContext, type CallReport, send, type TransportOptions, type WaitReport } from './http/transport.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The access key is not sent. It is checked so that swapped keys fail here, and not with a 401. */
const validateSettings = (settings: HostPoolOptions, secretKey: string, apiURL: string): void => {
  const wrong = [
    ...(/^SCW[A-Z0-9]{17}$/i.test(settings.accessKey) ? [] : ['the access key is not SCW and 17 letters or digits']),
    ...(uuid.test(secretKey) ? [] : ['the secret key is not a UUID']),
    ...(uuid.test(settings.projectID) ? [] : ['the project ID is not a UUID']),
    ...(/^https?:$/.test(URL.parse(apiURL)?.protocol ?? '') ? [] : ['the API address is not an HTTP URL']),
  ];
  if (wrong.length === 0) return;
  throw new ScalewayError(
    `The settings for Scaleway are wrong: ${wrong.join('; ')}. Check SCW_ACCESS_KEY, SCW_SECRET_KEY, SCW_DEFAULT_PROJECT_ID and SCW_API_URL.`,
    { kind: 'invalid' },
  );
};

export interface HostPoolOptions {
  readonly accessKey: string;
  /** A function is called for each request, so that a key can be replaced. Lists that were read with another key are not used any more. */
  readonly secretKey: string | (() => string);
  readonly projectID: string;
  /** `https://api.scaleway.com` */
  readonly apiURL?: string | undefined;
  /** Requests per second over all calls of this pool; bursts of one second are allowed. Default: 10; Scaleway publishes no limit. */
  readonly rate?: number;
  /** Milliseconds for one attempt, including its whole response. Default: 15,000. */
  readonly deadline?: number;
  /** The maximum number of attempts of a repeatable call. Default: 4. */
  readonly maxAttempts?: number;
  /** Called for each request that was sent. Must not throw. */
  readonly onCall?: (report: CallReport) => void;
  /** Called for each wait for the rate limit, which may be zero. Must not throw. */
  readonly onWait?: (report: WaitReport) => void;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Default: that of Node.js, which keeps connections alive. */
  readonly fetch?: typeof fetch;
}

/** The Macs of a project at Scaleway. Throws `invalid` for invalid settings; sends nothing yet. */
export const createHostPool = (options: HostPoolOptions): HostPool => {
  const { secretKey, projectID, clock = systemClock, random = Math.random } = options;
  const apiURL = (options.apiURL ?? 'https://api.scaleway.com').replace(/\/+$/, '');
  const readKey = typeof secretKey === 'function' ? secretKey : () => secretKey;
  const lists = {
    servers: createSharedReads<Server[]>(clock),
    images: createSharedReads<Image[]>(clock),
  };
  let known = readKey();
  validateSettings(options, known, apiURL);
  const redaction = createRedaction(known);
  const currentKey = (): string => {
    const key = readKey();
    if (key === known) return key;
    known = key;
    redaction.addKey(key);
    for (const each of Object.values(lists)) each.clear();
    return key;
  };
  const transport: TransportOptions = {
    apiURL,
    secretKey: currentKey,
    fetch: options.fetch ?? fetch,
    clock,
    random,
    rateLimit: createRateLimit(clock, random, options.rate ?? 10),
    deadline: options.deadline ?? 15_000,
    maxAttempts: options.maxAttempts ?? 4,
    redaction,
    onCall: options.onCall ?? (() => {}),
    onWait: options.onWait ?? (() => {}),
  };

  const context: CallContext = {
    send: (call) => send(call, transport),
    projectID,
    lists,
    addSecret: redaction.add,
  };
  return { ...serverCalls(context), ...keyCalls(context) };
};
