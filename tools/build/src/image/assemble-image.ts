import { execFile } from 'node:child_process';
import { chmod, constants, copyFile, cp, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { buildAgent, buildInstaller, buildManager, buildRunners, buildUninstallCheck } from '../programs.ts';
import { type ArtifactName, imageFiles, imageUser } from './layout.ts';

const run = promisify(execFile);

/** Where Debian and its like keep the authorities that they trust, and where the base image has them. */
const caBundle = '/etc/ssl/certs/ca-certificates.crt';

/** What the base image has of a Linux system: the libraries of node, a user, certificates, a folder to write to, places to mount at. */
const copyBaseSystem = async (folder: string): Promise<void> => {
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
  await mkdir(dirname(join(folder, caBundle)), { recursive: true });
  await cp(caBundle, join(folder, caBundle), { dereference: true });
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

export interface AssembleOptions {
  /** Becomes the root of the image's file system; made when missing. */
  readonly folder: string;
  /**
   * Files that stand in for software for Macs, and for our own agent, by what they stand in for. Of what is not named there is a file that
   * says so, and our own agent is built.
   */
  readonly artifacts?: Readonly<Partial<Record<ArtifactName | 'tart-kubelet', string>>>;
}

/**
 * The file system of the image in a folder, made without a daemon: the same files at the same places as the Dockerfile has them. This
 * machine's node and the libraries that it needs stand in for the base image, so it runs here and nowhere else.
 */
export const assembleImage = async ({ folder, artifacts = {} }: AssembleOptions): Promise<void> => {
  for (const file of imageFiles) {
    const to = join(folder, file.path);
    await mkdir(dirname(to), { recursive: true });
    if ('artifact' in file) await putArtifact(to, file.artifact, artifacts[file.artifact]);
    else if (file.from === 'node') await copyFile(process.execPath, to, constants.COPYFILE_FICLONE);
    else if (file.from === 'manager')
      await Promise.all([buildManager(to), buildInstaller(to), buildUninstallCheck(to)]);
    else if (file.from === 'runners.mjs') await buildRunners(dirname(to));
    else if (artifacts['tart-kubelet'] !== undefined) await cp(artifacts['tart-kubelet'], to);
    else await buildAgent(dirname(to));
  }
  await copyBaseSystem(folder);
  // Temporary folders are closed to others, and the image's user is another.
  await chmod(folder, 0o755);
};

const putArtifact = (to: string, name: ArtifactName, file: string | undefined): Promise<void> =>
  file === undefined
    ? writeFile(to, `In an image there is ${name} here, for Macs.\n`)
    : copyFile(file, to, constants.COPYFILE_FICLONE);
