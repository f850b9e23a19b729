import { execFile } from 'node:child_process';
import { chmod, constants, copyFile, cp, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { buildAgent, buildInstaller, buildManager, buildRunners, buildUninstallCheck } from '../programs.ts';
import { type ArtifactName, imageFiles, imageUser } from './layout.ts';

const run = promisify(execFile);

/** The path of the trusted certificate authorities on Debian, and in the base image. */
const caBundle = '/etc/ssl/certs/ca-certificates.crt';

/** The parts of a Linux system that the base image has: node's libraries, a user, certificates, a temporary folder, mount points. */
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
  // Mount points of a container runtime.
  for (const place of ['/proc', '/sys', '/dev', '/home/nonroot', '/var/run/secrets/kubernetes.io/serviceaccount'])
    await mkdir(join(folder, place), { recursive: true });
  await mkdir(join(folder, '/tmp'), { recursive: true });
  await chmod(join(folder, '/tmp'), 0o1777);
};

/** Absolute paths of all libraries that the dynamic linker loads, and of the linker. */
const librariesOf = async (program: string): Promise<string[]> => {
  const { stdout } = await run('ldd', [program]);
  return [...stdout.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].map(([, path = '']) => path);
};

export interface AssembleOptions {
  /** The root of the image's file system; created if missing. */
  readonly folder: string;
  /**
   * Files that replace software for Macs, or our own agent. Other software is replaced by a placeholder file that says so, and our own
   * agent is built.
   */
  readonly artifacts?: Readonly<Partial<Record<ArtifactName | 'tart-kubelet', string>>>;
}

/**
 * Builds the image's file system in a folder, without a daemon: the same files at the same paths as the Dockerfile. The local node and its
 * libraries replace the base image, so it runs only on this machine.
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
  // mkdtemp makes folders private, and the image runs as another user.
  await chmod(folder, 0o755);
};

const putArtifact = (to: string, name: ArtifactName, file: string | undefined): Promise<void> =>
  file === undefined
    ? writeFile(to, `In an image there is ${name} here, for Macs.\n`)
    : copyFile(file, to, constants.COPYFILE_FICLONE);
