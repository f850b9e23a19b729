import type { TransportRequest, TransportResponse } from '@tartan/kube';

/** It repeats all that was sent to it, secrets included: whoever writes down why something failed must not write those down. */
export const refuse = ({ path, body }: TransportRequest, mode: 'conflict' | 'refused'): TransportResponse => {
  const code = mode === 'conflict' ? 409 : 422;
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    reason: mode === 'conflict' ? 'Conflict' : 'Invalid',
    code,
    message: `Operation cannot be fulfilled on ${path}. Sent was ${body ?? ''}`,
  };
  const text = new TextEncoder().encode(JSON.stringify(status));
  return {
    code,
    headers: { 'content-type': 'application/json' },
    body: (async function* () {
      yield text;
    })(),
  };
};
