import type { Clock } from '@tartan/kube/clock';
import type { Mac } from '@tartan/sim-mac';
import type { ApiRequest } from './api/handler.ts';
import type { Key } from './api/ssh-keys.ts';
import type { Reply } from './http.ts';
import type { ServerRecord } from './servers/server-record.ts';

/** The faults of this Scaleway. They may change while it runs. */
export interface ScalewayFaults {
  /**
   * The next calls whose `METHOD path` (without the query) matches: `status` answers without doing it; `lost`: done, but the connection is
   * cut before the answer; `hang`: never answered.
   */
  readonly calls: {
    match: RegExp;
    times: number;
    with: { status: number; body?: unknown; headers?: Record<string, string> } | 'lost' | 'hang';
  }[];
  /** Answers one in so many calls with 503. */
  failsEvery: number | undefined;
  /** Whether a rename during a reinstall is refused with a transient state, or accepted. */
  renameWhileReinstalling: 'refused' | 'accepted';
  /** Servers whose reinstall ends in `error`. */
  readonly reinstallFails: Set<string>;
  /** Servers whose reinstall ends in `ready` without a wipe. */
  readonly reinstallDoesNotWipe: Set<string>;
  /** How the API shows the password. */
  password: 'shortly after the order' | 'in vnc_url' | 'empty' | 'sealed';
  /**
   * The answer for a deleted server. Scaleway's SDK expects a 404. Recorded answers of the real API (terraform-provider-scaleway,
   * `action-reboot-server-basic.cassette.yaml`, 2025-12 and 2026-03) are 403 `read server`.
   */
  goneServer: 'not found' | 'denied';
}

export interface ScalewayOptions {
  readonly clock?: Clock;
  /** 1 is Scaleway's real speed: a reboot takes 90 s, a reinstall 10 min. */
  readonly pace?: number;
  readonly port?: number;
  readonly projectID?: string;
  readonly accessKey?: string;
  readonly secretKey?: string;
  /** Permission sets of the key; calls without the needed one are refused with 403. */
  readonly permissions?: readonly string[];
  /** The scope of those sets. A key of the whole organization sees the servers and keys of every project. Default: the project. */
  readonly scope?: 'project' | 'organization';
  /** Requests per second before 429. Default: no limit. */
  readonly rateLimit?: number;
  /** For servers and keys. Default: random. */
  readonly newID?: () => string;
  /** The initial state. Default: empty. */
  readonly saved?: ScalewayState;
  /**
   * A folder for servers and keys, created if missing. A later start continues with its content, even after a kill; it overrides `saved`.
   */
  readonly data?: string;
  /**
   * Creates the Mac of a server, or starts it again on its existing disk. Without this function servers have no Macs. `port`: the previous
   * port, which is free now. Default: any port.
   */
  readonly startMac?: (server: {
    id: string;
    password: string;
    authorizedKeys: readonly string[];
    port?: number;
  }) => Promise<Mac>;
}

/** One rented Mac, as the owner of the simulator sees it. */
export interface SimulatedServer {
  readonly id: string;
  readonly zone: string;
  readonly projectID: string;
  name: string;
  readonly type: string;
  status: string;
  readonly os: { id: string; name: string; family: string };
  /** The number of wipes. */
  readonly installs: number;
  readonly mac: Mac | undefined;
}

/** Servers and keys at one time, without their Macs. */
export interface ScalewayState {
  readonly servers: readonly ServerRecord[];
  readonly keys: readonly Key[];
}

/** Scaleway's Apple-silicon and IAM API over HTTP, as far as we use it. */
export interface SimulatedScaleway extends Scaleway {
  /** For `SCW_API_URL`. */
  readonly url: string;
}

/** The same without sockets, for tests on virtual time. */
export interface EmbeddedScaleway extends Scaleway {
  /** Handles a request. `target`: its path with the query. */
  readonly reply: (request: ApiRequest, target: string) => Reply;
  /** The same as a `fetch` function, for any host name. */
  readonly fetch: typeof fetch;
  save(): ScalewayState;
  /** Starts the Macs of the initial servers, and continues pending operations. Call it once, first. */
  resume(): Promise<void>;
}

interface Scaleway {
  readonly faults: ScalewayFaults;
  /** Orders a Mac, as a user does in the console. Resolves when it is ready. */
  order(server: {
    zone: string;
    name: string;
    type?: string;
    family?: string;
    projectID?: string;
  }): Promise<SimulatedServer>;
  /**
   * Live objects: changing a name or status acts like a user in the console. The real API returns an address without a port; all simulated
   * Macs are on 127.0.0.1, so their address has a port: `127.0.0.1:40022`.
   */
  servers(): readonly SimulatedServer[];
  /** All requests with their query, for counting: `GET /apple-silicon/…?page=1`. */
  readonly requests: readonly string[];
  /** Images that can be installed. May be changed; the first non-beta one is the default of its server types. */
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

/** Takes the first fault that matches the call, and uses it up once. */
export const takeFault = (calls: Calls, call: string): Calls[number]['with'] | undefined => {
  // A copy, because a global RegExp keeps its last position.
  const index = calls.findIndex(({ match, times }) => times > 0 && new RegExp(match).test(call));
  const fault = calls[index];
  if (fault === undefined) return undefined;
  fault.times -= 1;
  if (fault.times === 0) calls.splice(index, 1);
  return fault.with;
};
