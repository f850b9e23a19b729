import type { Transport } from '../transport/transport.ts';
import type { CountedRequest } from './request-metrics.ts';

/** The same transport, with every request counted when its answer begins, or when there is none. `host` is for the label. */
export const countingTransport = (
  transport: Transport,
  { host, count }: { host: string; count: (request: CountedRequest) => void },
): Transport => ({
  open: (request) => transport.open(request),
  close: () => transport.close(),
  send: async (request) => {
    const { method } = request;
    try {
      const response = await transport.send(request);
      count({ code: response.code, method, host });
      return response;
    } catch (error) {
      count({ code: undefined, method, host });
      throw error;
    }
  },
});
