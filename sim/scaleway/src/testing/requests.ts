import type { SimulatedScaleway } from '../scaleway.ts';

/** The default secret key. */
export const secretKey = '11111111-1111-4111-8111-111111111111';
export const projectID = '22222222-2222-4222-8222-222222222222';

export interface CallResult {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** Plain HTTP, so that a test sees the wire format. */
export const sendRequest = async (
  scaleway: Pick<SimulatedScaleway, 'url'>,
  call: string,
  body?: unknown,
  token: string | undefined = secretKey,
): Promise<CallResult> => {
  const [method = 'GET', path = '/'] = call.split(' ');
  const response = await fetch(scaleway.url + path, {
    method,
    headers: token === '' ? {} : { 'x-auth-token': token },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
};

export const zonePath = '/apple-silicon/v1alpha1/zones/fr-par-1';
export const sshKeysPath = '/iam/v1alpha1/ssh-keys';

/** A key that OpenSSH accepts. Different texts give different keys. */
export const publicKey = (text: string): string => {
  const kind = Buffer.from('ssh-ed25519');
  const material = Buffer.alloc(32, text);
  const size = (part: Buffer): Buffer => Buffer.from([0, 0, 0, part.length]);
  return `ssh-ed25519 ${Buffer.concat([size(kind), kind, size(material), material]).toString('base64')} ${text}`;
};
