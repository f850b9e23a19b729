import type { Clock } from '@tartan/kube/clock';
import type { Mac } from '@tartan/sim-mac';
import type { ApiRequest } from './api/handler.ts';
import type { Key } from './api/ssh-keys.ts';
import type { Reply } from './http.ts';
import type { ServerRecord } from './servers/server-record.ts';

/** What goes wrong with this Scaleway. Any of it may be changed while it runs. */
export interface ScalewayFaults {
  /** The next calls whose `METHOD path` (without the query) matches: `status` answers without doing it; `lost`: done, and the connection is cut before the answer; `hang`: never answered. */
  readonly calls: {
    match: RegExp;
    times: number;
    with: { status: number; body?: unknown; headers?: Record<string, string> } | 'lost' | 'hang';
  }[];
  /** Every so many calls one is answered with 503, whatever it asks for. */
  failsEvery: number | undefined;
  /** A rename while reinstalling is refused with a transient state, or taken. */
  renameWhileReinstalling: 'refused' | 'accepted';
  /** Servers whose reinstall ends in `error`. */
  readonly reinstallFails: Set<string>;
  /** Servers whose reinstall ends in `ready` with everything as it was. */
  readonly reinstallDoesNotWipe: Set<string>;
  /** What the API says the password is. */
  password: 'shortly after the order' | 'in vnc_url' | 'empty' | 'sealed';
  /**
   * How a server that was deleted is answered for. Scaleway's SDK knows a 404. Recorded answers of the real API
   * (terraform-provider-scaleway, `action-reboot-server-basic.cassette.yaml`, 2025-12 and 2026-03) are 403 `read server`.
   */
  goneServer: 'not found' | 'denied';
}

export interface ScalewayOptions {
  readonly clock?: Clock;
  /** 1 is as slow as Scaleway: a reboot takes 90 s, a reinstall 10 min. */
  readonly pace?: number;
  readonly port?: number;
  readonly projectID?: string;
  readonly accessKey?: string;
  readonly secretKey?: string;
  /** Permission sets of the key; without one of them its calls are refused with 403. */
  readonly permissions?: readonly string[];
  /** Where those sets hold. A key of the whole organization sees the servers and keys of every project. Default: the project. */
  readonly scope?: 'project' | 'organization';
  /** Requests per second before 429; without it there is no limit. */
  readonly rateLimit?: number;
  /** Of servers and keys. Random unless told. */
  readonly newID?: () => string;
  /** What it begins with. Nothing unless told. */
  readonly saved?: ScalewayState;
  /**
   * A folder in which it keeps servers and keys, made when missing. Started again on it, also after it was killed, it goes on where it
   * was: what the folder holds comes before `saved`.
   */
  readonly data?: string;
  /**
   * Makes the Mac behind a server, or starts it again on the disk that it has. Without it servers are names only. `port` is where it was
   * reached before, and free just now; without it any will do.
   */
  readonly startMac?: (server: {
    id: string;
    password: string;
    authorizedKeys: readonly string[];
    port?: number;
  }) => Promise<Mac>;
}

/** One rented Mac, as somebody who owns the simulator sees it. */
export interface SimulatedServer {
  readonly id: string;
  readonly zone: string;
  readonly projectID: string;
  name: string;
  readonly type: string;
  status: string;
  readonly os: { id: string; name: string; family: string };
  /** How often it was wiped. */
  readonly installs: number;
  readonly mac: Mac | undefined;
}

/** Servers and keys as they were at some moment, without the Macs behind them. */
export interface ScalewayState {
  readonly servers: readonly ServerRecord[];
  readonly keys: readonly Key[];
}

/** Scaleway's Apple-silicon and IAM API over HTTP, as far as we use it. */
export interface SimulatedScaleway extends Scaleway {
  /** For `SCW_API_URL`. */
  readonly url: string;
}

/** The same without sockets, so that a test on virtual time is complete. */
export interface EmbeddedScaleway extends Scaleway {
  /** What becomes of a request. `target`: its path with the query. */
  readonly reply: (request: ApiRequest, target: string) => Reply;
  /** The same in the form in which clients ask, whatever host they name. */
  readonly fetch: typeof fetch;
  save(): ScalewayState;
  /** Starts the Macs of the servers that it began with, and goes on with what was under way. Once, before anything else. */
  resume(): Promise<void>;
}

interface Scaleway {
  readonly faults: ScalewayFaults;
  /** Orders a Mac, as a person in the console does. Ready when it resolves. */
  order(server: {
    zone: string;
    name: string;
    type?: string;
    family?: string;
    projectID?: string;
  }): Promise<SimulatedServer>;
  /**
   * Alive: a change of name or status is what a person in the console does. The API of the real one tells an address and no port; here
   * every simulated Mac is on 127.0.0.1, so the address of one comes with its port: `127.0.0.1:40022`.
   */
  servers(): readonly SimulatedServer[];
  /** Every request that came, with its query, for counting: `GET /apple-silicon/…?page=1`. */
  readonly requests: readonly string[];
  /** Images that can be installed. May be changed; the first one that is no beta is the default of its server types. */
  readonly images: {
    id: string;
    name: string;
    family: string;
    version: string;
    isBeta: boolean;
    serverTypes: string[];
  }[];
  keys(): readonly { id: string; name: string; publicKey: string; projectID: string }[];
  stop(): Promise<void>;
}

type Calls = ScalewayFaults['calls'];

/** The first fault that is meant for this call, which is used up by it. */
export const takeFault = (calls: Calls, call: string): Calls[number]['with'] | undefined => {
  // A copy: a global expression remembers where it stopped, and each call is a new text.
  const index = calls.findIndex(({ match, times }) => times > 0 && new RegExp(match).test(call));
  const fault = calls[index];
  if (fault === undefined) return undefined;
  fault.times -= 1;
  if (fault.times === 0) calls.splice(index, 1);
  return fault.with;
};
