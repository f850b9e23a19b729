import { type HostSecrets, type HostSpec, summaryHash } from '@tartan/host';
import type { CallOptions } from '@tartan/kube';
import { hostSpecOf } from '../../host-work/host-spec.ts';
import { type MachineSecret, readTailscaleKey } from '../../host-work/secrets.ts';
import type { Machine } from '../../controller-deps.ts';
import type { MachineControllerOptions } from '../options.ts';

export type HostPlan =
  | {
      readonly kind: 'planned';
      readonly spec: HostSpec;
      readonly hash: string;
      /** All but those to join with, which are made when they are needed. */
      readonly secrets: HostSecrets;
    }
  | {
      readonly kind: 'problem';
      readonly outcome: 'TailscaleAuthKeyUnavailable' | 'InvalidSpec';
      readonly message: string;
    };

/** What the Mac shall be: the same for first boot and roll, so that neither can lose a part of it (INC-237). */
export const planHost = async (
  {
    client,
    settings,
    options,
    redactor,
  }: Pick<MachineControllerOptions, 'client' | 'settings' | 'options' | 'redactor'>,
  machine: Machine,
  { login, joinVersion }: { login: MachineSecret; joinVersion: string },
  call: CallOptions,
): Promise<HostPlan> => {
  const { tailscale } = settings;
  const where = tailscale && { namespace: options.secretsNamespace, name: tailscale.authKeySecretName };
  const key = where && (await readTailscaleKey(client, where, call));
  if (key?.kind === 'problem') return { kind: 'problem', outcome: 'TailscaleAuthKeyUnavailable', message: key.message };
  const facts = { user: login.username, joinVersion, tailscaleKeyVersion: key?.version };
  const specified = hostSpecOf(machine, facts, settings);
  if (specified.kind === 'problem') return { kind: 'problem', outcome: 'InvalidSpec', message: specified.message };
  const password = login.password?.reveal();
  const authKey = key?.key.reveal();
  for (const secret of [password, authKey]) if (secret) redactor.add(secret);
  return {
    kind: 'planned',
    spec: specified.spec,
    hash: summaryHash(specified.spec),
    secrets: { ...(password && { userPassword: password }), ...(authKey && { tailscaleAuthKey: authKey }) },
  };
};
