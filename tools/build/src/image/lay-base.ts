import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { imageUser } from './layout.ts';

const run = promisify(execFile);

/** Where Debian and its like keep the authorities that they trust, and where the base image has them. */
const authorities = '/etc/ssl/certs/ca-certificates.crt';

/** What the base image has of a Linux system: the libraries of node, a user, certificates, a folder to write to, places to mount at. */
export const layBase = async (folder: string): Promise<void> => {
  const put = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  for (const library of await librariesOf(process.execPath))
    await cp(library, join(folder, library), { recursive: true, dereference: true });
  await put(
    '/etc/passwd',
    `root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:${imageUser}:${imageUser}:nonroot:/home/nonroot:/sbin/nologin\n`,
  );
  await put('/etc/group', `root:x:0:\nnonroot:x:${imageUser}:\n`);
  await put('/etc/nsswitch.conf', 'hosts: files dns\n');
  await put('/etc/hosts', '127.0.0.1 localhost\n::1 localhost\n');
  await mkdir(dirname(join(folder, authorities)), { recursive: true });
  await cp(authorities, join(folder, authorities), { dereference: true });
  // What a container runtime mounts something at.
  for (const place of ['/proc', '/sys', '/dev', '/home/nonroot', '/var/run/secrets/kubernetes.io/serviceaccount'])
    await mkdir(join(folder, place), { recursive: true });
  await mkdir(join(folder, '/tmp'), { recursive: true });
  await chmod(join(folder, '/tmp'), 0o1777);
};

/** Absolute paths of all that the dynamic linker loads, and of itself. */
const librariesOf = async (program: string): Promise<string[]> => {
  const { stdout } = await run('ldd', [program]);
  return [...stdout.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].map(([, path = '']) => path);
};
