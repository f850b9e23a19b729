import type { Clock } from '../clock/clock.ts';
import type { Credentials } from '../transport/https-connection.ts';
import type { ReadFile } from './config-file.ts';

/** Address, certificate authority and credentials of a cluster. */
export interface ClusterConfig {
  /** `https://host:port`, possibly with a path. */
  server: string;
  /** PEM. If absent, the system's trusted authorities. */
  ca?: string | undefined;
  insecureSkipTlsVerify?: boolean | undefined;
  /** The name expected in the server's certificate. */
  serverName?: string | undefined;
  /** From the context, or of this Pod; `default` when neither is set. */
  namespace: string;
  /**
   * Cheap enough to call before every request; returns the same object while nothing changed. Rereads token and certificate
   * files at most once a minute, runs an exec plugin when its credentials have expired. Rejects with ConfigError.
   */
  credentials(): Promise<Credentials>;
  /**
   * Call after a 401: the next `credentials()` rereads the files or reruns the plugin. Does nothing if `rejected` has been
   * replaced already, so many rejected requests cost one renewal.
   */
  refresh(rejected?: Credentials): void;
}

export interface ConfigContext {
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  /** Rejects with an error whose `code` is ENOENT when there is no such file. */
  readFile: ReadFile;
}

export type { Credentials };
