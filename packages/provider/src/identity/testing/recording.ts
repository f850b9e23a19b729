import type { Fields, Logger, Transport } from '@tartan/kube';

/** A transport that records requests: `DELETE /api/v1/…`, without queries. */
export const recordingTransport = (transport: Transport): { transport: Transport; requests: string[] } => {
  const requests: string[] = [];
  return {
    requests,
    transport: {
      ...transport,
      send: (request) => {
        requests.push(`${request.method} ${request.path.split('?')[0]}`);
        return transport.send(request);
      },
    },
  };
};

/** A logger that keeps all lines as text. */
export const recordingLog = (): { log: Logger; lines: string[] } => {
  const lines: string[] = [];
  const errors = (_: string, value: unknown): unknown =>
    value instanceof Error
      ? { text: String(value), ...Object.fromEntries(Object.entries(value)), cause: value.cause }
      : value;
  const withFields = (base: Fields): Logger => {
    const write = (message: string, fields: Fields = {}): void => {
      lines.push(JSON.stringify({ message, ...base, ...fields }, errors));
    };
    return {
      debug: write,
      info: write,
      warn: write,
      error: write,
      with: (fields) => withFields({ ...base, ...fields }),
    };
  };
  return { log: withFields({}), lines };
};
