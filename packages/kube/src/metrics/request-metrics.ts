import { Counter, type Registry } from 'prom-client';

/** One request to an API server that has been answered, or has failed: then the code is `<error>`, as client-go says it. */
export interface CountedRequest {
  code: number | undefined;
  method: string;
  /** Host and port. */
  host: string;
}

export const createRequestMetrics = (registry: Registry): ((request: CountedRequest) => void) => {
  const requests = new Counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server by code, method and host',
    labelNames: ['code', 'method', 'host'],
    registers: [registry],
  });
  return ({ code, method, host }) =>
    requests.inc({ code: code === undefined ? '<error>' : String(code), method, host });
};
