import { certificateSigningRequests, type Client } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';

/** A signal that fires with another one, or when the time is over; `end` takes the latter back. */
export const deadlineSignal = (
  clock: Clock,
  milliseconds: number,
  signal: AbortSignal,
): { readonly signal: AbortSignal; readonly end: () => void } => {
  const timeout = new AbortController();
  const end = clock.after(milliseconds, () => timeout.abort());
  return { signal: AbortSignal.any([signal, timeout.signal]), end };
};

type Request = NonNullable<(typeof certificateSigningRequests)['ofType']>;

/** What became of a request; the text is of the one who decided, and names machines and nothing secret. */
type SigningResult =
  | { readonly kind: 'issued'; readonly certificate: string }
  | { readonly kind: 'refused'; readonly message: string };

const signingResultOf = ({ status }: Request): SigningResult | undefined => {
  if (status?.certificate !== undefined)
    return { kind: 'issued', certificate: Buffer.from(status.certificate, 'base64').toString() };
  const conditions = status?.conditions ?? [];
  if (conditions.every(({ type }) => type === 'Approved')) return undefined;
  const message = conditions.map((one) => `${one.type} ${one.reason ?? ''}: ${one.message ?? ''}`).join(' ');
  return { kind: 'refused', message };
};

/** Watches a request, at the cost of a connection and no more, until somebody has decided or `signal` fires: then it rejects. */
export const waitForCertificate = async (client: Client, name: string, signal: AbortSignal): Promise<SigningResult> => {
  const selection = { fieldSelector: `metadata.name=${name}`, signal };
  for (;;) {
    const { items, resourceVersion } = await client.list(certificateSigningRequests, selection);
    const [request] = items;
    if (request === undefined) return { kind: 'refused', message: `The certificate request ${name} is gone.` };
    const result = signingResultOf(request);
    if (result !== undefined) return result;
    for await (const event of client.watch(certificateSigningRequests, { ...selection, resourceVersion })) {
      if (event.type === 'DELETED') break;
      if (event.type === 'BOOKMARK') continue;
      const found = signingResultOf(event.object);
      if (found !== undefined) return found;
    }
  }
};
