import { unlessAborted } from '../errors/abort-signal.ts';
import { connectionError } from '../errors/connection-error.ts';
import { isKubeError, KubeError } from '../errors/kube-error.ts';
import { exchange, StaleConnection } from './exchange.ts';
import { createAgentPool, type Credentials, endpointOf, type HttpsTransportOptions } from './https-connection.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

const defaultConnectTimeoutMs = 10_000;

/**
 * Requests over `node:https`, with connection reuse.
 *
 * Guarantees: one attempt per `send`, with one exception: a GET whose reused connection was closed before any byte of the response
 * is sent once more on a new connection, since servers close idle connections at any time. Other methods are not retried: the
 * server may have executed them. Bodies are read with backpressure.
 * Caveats: Node closes idle connections by its own clock, not the injected one.
 */
export const httpsTransport = (options: HttpsTransportOptions): Transport => {
  const { clock, connectTimeoutMs = defaultConnectTimeoutMs } = options;
  const endpoint = endpointOf(options.server);
  const { address } = endpoint;
  const agents = createAgentPool(options);

  const readCredentials = async (): Promise<Credentials> => {
    try {
      return await options.credentials();
    } catch (error) {
      if (isKubeError(error)) throw error;
      const why = error instanceof Error ? error.message : 'they cannot be read';
      const text = `No credentials for the Kubernetes API at ${address}: ${why}`;
      throw new KubeError('unauthorized', text, { cause: error });
    }
  };

  const send = async (request: TransportRequest): Promise<TransportResponse> => {
    const credentials = await unlessAborted(request.signal, readCredentials());
    const agent = agents.agentFor(credentials.certificate);
    const wire = { endpoint, agent, clock, connectTimeoutMs };
    const authorized = { ...request, headers: { ...request.headers, ...credentials.headers } };
    const response = await exchange(wire, authorized).catch((error: unknown) => {
      if (!(error instanceof StaleConnection) || request.method !== 'GET') throw error;
      // The server probably closed the other idle connections too.
      agent.closeIdle();
      return exchange(wire, authorized);
    });
    if (response.code === 401) options.refresh?.(credentials);
    return response;
  };

  return {
    send: async (request) => {
      try {
        return await send(request);
      } catch (error) {
        throw connectionError(address, error instanceof StaleConnection ? error.cause : error);
      }
    },
    close: () => agents.close(),
  };
};
