import { certificateSigningRequests, type Client } from '@tartan/kube';

type Request = NonNullable<(typeof certificateSigningRequests)['ofType']>;

/** What became of a request; the text is of the one who decided, and names machines and nothing secret. */
export type Verdict =
  | { readonly kind: 'issued'; readonly certificate: string }
  | { readonly kind: 'refused'; readonly message: string };

const verdictIn = ({ status }: Request): Verdict | undefined => {
  if (status?.certificate !== undefined)
    return { kind: 'issued', certificate: Buffer.from(status.certificate, 'base64').toString() };
  const conditions = status?.conditions ?? [];
  if (conditions.every(({ type }) => type === 'Approved')) return undefined;
  const message = conditions.map((one) => `${one.type} ${one.reason ?? ''}: ${one.message ?? ''}`).join(' ');
  return { kind: 'refused', message };
};

/** Watches a request, at the cost of a connection and no more, until somebody has decided or `signal` fires: then it rejects. */
export const awaitVerdict = async (client: Client, name: string, signal: AbortSignal): Promise<Verdict> => {
  const selection = { fieldSelector: `metadata.name=${name}`, signal };
  for (;;) {
    const { items, resourceVersion } = await client.list(certificateSigningRequests, selection);
    const [request] = items;
    if (request === undefined) return { kind: 'refused', message: `The certificate request ${name} is gone.` };
    const verdict = verdictIn(request);
    if (verdict !== undefined) return verdict;
    for await (const event of client.watch(certificateSigningRequests, { ...selection, resourceVersion })) {
      if (event.type === 'DELETED') break;
      if (event.type === 'BOOKMARK') continue;
      const found = verdictIn(event.object);
      if (found !== undefined) return found;
    }
  }
};
