import type { Credentials } from '../transport/https-connection.ts';

/** Where a cluster is, how to know that it is the right one, and who we are to it. */
export interface ClusterConfig {
  /** `https://host:port`, possibly with a path. */
  server: string;
  /** PEM; the authorities that this machine trusts anyway when absent. */
  ca?: string;
  insecureSkipTlsVerify?: boolean;
  /** The name to expect in the server's certificate. */
  serverName?: string;
  /** Of the context, or of our own Pod; `default` when nobody says. */
  namespace: string;
  /**
   * Cheap enough to be asked before every request; the same object as long as nothing changed. Token and certificate files
   * are read again at most once a minute, an exec plugin runs when what it said has expired. Rejects with ConfigError.
   */
  credentials(): Promise<Credentials>;
  /**
   * The server said 401: the next `credentials()` reads the files, or runs the plugin, again. With the credentials that were
   * refused it does nothing if they have been replaced already, so that many refused requests cost one renewal.
   */
  refresh(rejected?: Credentials): void;
}

export type { Credentials };
