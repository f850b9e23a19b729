import type { Clock } from '../clock/clock.ts';
import type { Credentials } from '../transport/https-connection.ts';
import type { ReadFile } from './config-file.ts';

/** Address, certificate authority and credentials of a cluster. */
export interface ClusterConfig {
  /** `https://host:port`, possibly with a path. */
  server: string;
  /** PEM; the authorities that this machine trusts anyway when absent. */
  ca?: string | undefined;
  insecureSkipTlsVerify?: boolean | undefined;
  /** The name to expect in the server's certificate. */
  serverName?: string | undefined;
  /** Of the context, or of our own Pod; `default` when neither is set. */
  namespace: string;
  /**
   * Cheap enough to be called before every request; the same object as long as nothing changed. Token and certificate files
   * are read again at most once a minute, an exec plugin runs when its credentials have expired. Rejects with ConfigError.
   */
  credentials(): Promise<Credentials>;
  /**
   * The server answered 401: the next `credentials()` reads the files, or runs the plugin, again. With the credentials that were
   * refused it does nothing if they have been replaced already, so that many refused requests cost one renewal.
   */
  refresh(rejected?: Credentials): void;
}

/** What configurations are read with. */
export interface ConfigContext {
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  /** Rejects with an error whose `code` is ENOENT when there is no such file. */
  readFile: ReadFile;
}

export type { Credentials };
