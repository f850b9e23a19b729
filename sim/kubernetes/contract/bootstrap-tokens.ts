import { randomBytes } from 'node:crypto';
import type { BehaviourContext } from './behaviour-context.ts';

const secrets = '/api/v1/namespaces/kube-system/secrets';

export interface BootstrapToken {
  id: string;
  token: string;
  path: string;
}

/** A bootstrap token as kubeadm creates it. `data` overrides the defaults; null removes a key. */
export const bootstrapToken = async (
  context: BehaviourContext,
  data: Record<string, string | null> = {},
): Promise<BootstrapToken> => {
  const id = randomBytes(3).toString('hex');
  const secret = randomBytes(8).toString('hex');
  const all = { 'token-id': id, 'token-secret': secret, 'usage-bootstrap-authentication': 'true', ...data };
  const name = `bootstrap-token-${id}`;
  await context.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name },
    type: 'bootstrap.kubernetes.io/token',
    stringData: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)),
  });
  context.deleteAfterBehaviour(`${secrets}/${name}`);
  return { id, token: `${id}.${secret}`, path: `${secrets}/${name}` };
};
