import { createSecureContext, type SecureContext } from 'node:tls';
import type { Credentials, HttpsTransportOptions } from './https-options.ts';
import { DrainingAgent } from './draining-agent.ts';

/** The real server closes an idle connection after 90 s or more. Being first avoids writing into one that it is just closing. */
const idleMs = 60_000;

/** What TLS needs to know, for HTTPS and for WebSockets alike. */
export const tlsOptions = (
  { ca, serverName, insecureSkipTlsVerify }: HttpsTransportOptions,
  certificate: Credentials['certificate'],
): { secureContext: SecureContext; servername?: string; rejectUnauthorized: boolean } => ({
  rejectUnauthorized: insecureSkipTlsVerify !== true,
  // Made once for all connections: from certificates and keys as text, Node would make one for each.
  secureContext: createSecureContext({
    ...(ca === undefined ? {} : { ca }),
    ...(certificate ? { cert: certificate.cert, key: certificate.key } : {}),
  }),
  ...(serverName === undefined ? {} : { servername: serverName }),
});

export interface Agents {
  /** The pool of connections that show this certificate. */
  agentFor(certificate: Credentials['certificate']): DrainingAgent;
  close(): void;
}

/** One pool at a time: a certificate is shown when a connection opens, so another certificate needs other connections. */
export const createAgents = (options: HttpsTransportOptions): Agents => {
  let current: { agent: DrainingAgent; certificate: Credentials['certificate'] } | undefined;
  const isCurrent = (certificate: Credentials['certificate']): boolean =>
    current?.certificate?.cert === certificate?.cert && current?.certificate?.key === certificate?.key;
  return {
    agentFor: (certificate) => {
      if (current && isCurrent(certificate)) return current.agent;
      current?.agent.drain();
      const agent = new DrainingAgent({
        ...tlsOptions(options, certificate),
        keepAlive: true,
        // Node closes a free connection after that time, and leaves one in use alone.
        timeout: idleMs,
        ...(options.maxSockets === undefined ? {} : { maxSockets: options.maxSockets }),
      });
      current = { agent, certificate };
      return agent;
    },
    close: () => {
      current?.agent.drain();
      current = undefined;
    },
  };
};
