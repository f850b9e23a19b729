import { createSecret } from '@tartan/kube';
import { type HostPool, type RegisteredKey, ScalewayError, type Server } from '@tartan/scaleway';

/** A project with one Mac in its pool: a reinstall is over after some reads. */
export const oneMac = (id: string) => {
  let keys: RegisteredKey[] = [];
  let looksLeft = 0;
  const calls: string[] = [];
  let server: Server = {
    id,
    zone: 'fr-par-1',
    name: 'tuist-pool-0123abcd',
    type: 'M2-L',
    status: 'ready',
    delivered: true,
    os: { id: 'os', name: 'macos-tahoe-26.0', family: 'Tahoe' },
    ip: '192.0.2.7',
    sshUsername: 'm1',
    password: createSecret('the password'),
    createdAt: '2026-01-01T00:00:00Z',
  };
  const look = (): Server => {
    if (server.status === 'reinstalling' && looksLeft-- <= 0) server = { ...server, status: 'ready' };
    return server;
  };
  const pool: HostPool = {
    listServers: async (zone) => (zone === server.zone ? [look()] : []),
    getServer: async (_zone, wanted) => {
      if (wanted !== id) throw new ScalewayError('There is no such server.', { kind: 'not found' });
      return look();
    },
    rename: async (_zone, _id, name) => {
      calls.push(`rename ${name}`);
      server = { ...server, name };
      return server;
    },
    reinstall: async () => {
      calls.push('reinstall');
      server = { ...server, status: 'reinstalling' };
      looksLeft = 4;
    },
    reboot: async () => {
      calls.push('reboot');
    },
    listImages: async () => [],
    listKeys: async () => keys,
    createKey: async (name, publicKey) => {
      const key = { id: name, name, publicKey };
      keys = [...keys, key];
      return key;
    },
    deleteKey: async (gone) => {
      keys = keys.filter((key) => key.id !== gone);
    },
  };
  return { pool, calls, name: () => server.name };
};
