import type { Applesiliconv1alpha1 } from '@scaleway/sdk-applesilicon';
import type { Iamv1alpha1 } from '@scaleway/sdk-iam';
import { createSecret } from '@tartan/kube';
import type { Image, RegisteredKey, Server } from '../host-pool.ts';
import { passwordIn } from './password.ts';

/** From the SDK's objects, whose fields `answers.ts` has checked, to ours. */

export const toServer = (server: Applesiliconv1alpha1.Server, zone: string): Server => {
  const password = passwordIn(server.sudoPassword, server.vncUrl);
  return {
    id: server.id,
    zone: server.zone === '' ? zone : server.zone,
    name: server.name,
    type: server.type,
    status: server.status,
    delivered: server.delivered,
    os: server.os === undefined ? undefined : { id: server.os.id, name: server.os.name, family: server.os.family },
    ip: server.ip,
    sshUsername: server.sshUsername,
    password: password === undefined ? undefined : createSecret(password),
    createdAt: server.createdAt?.toISOString() ?? '',
  };
};

export const toImage = ({ id, name, family, version, isBeta }: Applesiliconv1alpha1.OS): Image => ({
  id,
  name,
  family,
  version,
  isBeta,
});

export const toKey = ({ id, name, publicKey }: Iamv1alpha1.SSHKey): RegisteredKey => ({ id, name, publicKey });
