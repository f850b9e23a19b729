const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ECONNRESET: 'connect: connection reset by peer',
  ETIMEDOUT: 'i/o timeout',
};

/** Why a kubelet could not be reached, in the words of Go's network stack, which the real server hands on. */
export const dialError = (error: unknown, url: string): string => {
  if (!URL.canParse(url)) return `invalid URL ${JSON.stringify(url)}`;
  const { host, hostname, port } = new URL(url);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${hostname}: no such host`;
  const reason = reasons[code];
  if (reason !== undefined) return `dial tcp ${port === '' ? `${host}:443` : host}: ${reason}`;
  return error instanceof Error ? error.message : 'EOF';
};
