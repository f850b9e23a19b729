import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installFakeTart } from '@tartan/sim-mac';
import { buildAgent } from '@tartan/tools-build';
import type { Access } from './cluster.ts';
import { installStampingTart, measureStampDelay, readTartCalls, type TartCall } from './tart-calls.ts';

/** A Mac with only a fake tart, some macOS commands that answer at once, and the agent as it ships. */
export interface BenchMac {
  readonly image: string;
  /** Time from `tart run` to the guest's address. */
  readonly bootMs: number;
  calls(): Promise<TartCall[]>;
  /** Subtracted from the start of each call. */
  readonly stampDelayMs: number;
  /** When the last guest got an address, in milliseconds since the epoch. */
  lastLease(): number;
  /** Resident memory of the agent, in MB. */
  resident(): number;
  /** Rejects when the agent ends unexpectedly. */
  readonly broken: Promise<never>;
  stop(): Promise<void>;
}

const image = 'ghcr.io/example/macos:26';
const bootMs = 500;

/** The ps output must not show other processes of this machine: only the agent, whose program is in this folder. */
const commands = (root: string): Readonly<Record<string, string>> => ({
  sudo: `printf 'gui = {\\n\\tsession = Aqua\\n}\\n'`,
  sysctl: 'case $2 in *pressure*) echo 1 ;; *maxproc) echo 4000 ;; *) echo BOOT ;; esac',
  sw_vers: 'echo 26.1',
  ioreg: `echo '"IOPlatformUUID" = "MAC"'`,
  lsof: 'exit 1',
  ps: `case $1 in -axo) exec /bin/ps "$@" ;; esac; /bin/ps "$@" | grep -F '${root}/'`,
});

const kubeconfigOf = ({ url, ca }: Access): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority-data': btoa(ca) } }],
    users: [{ name: 'c', user: { token: 'unused' } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
  });

const layOut = async (root: string, access: Access): Promise<void> => {
  for (const folder of ['etc/tart-kubelet', 'usr/local/bin', 'sbin', 'var/db', 'Users/m1'])
    await mkdir(join(root, folder), { recursive: true });
  // With its own certificate it need not join.
  await writeFile(join(root, 'etc/tart-kubelet/kubeconfig'), kubeconfigOf(access), { mode: 0o600 });
  await writeFile(join(root, 'etc/tart-kubelet/node-certificate.pem'), `${access.cert}${access.key}`, { mode: 0o600 });
  for (const [name, script] of Object.entries(commands(root)))
    await writeFile(join(root, 'sbin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
};

export const startMac = async (root: string, nodeName: string, access: Access): Promise<BenchMac> => {
  await layOut(root, access);
  const tart = installFakeTart(join(root, 'tart'));
  // As on a real one: asking for a missing address takes a second.
  tart.controls.host({ secondMs: 1000, guiSession: 'Aqua' });
  tart.controls.guest('_', { bootMs });
  tart.controls.image(image, { digest: `sha256:${'a'.repeat(64)}`, stepMs: 1 });
  const stamps = join(root, 'tart-calls');
  const stampingTart = join(root, 'usr/local/bin/tart');
  await installStampingTart(stampingTart, tart.path, stamps);
  const stampDelayMs = await measureStampDelay(stampingTart);
  const program = await buildAgent(join(root, 'agent'));
  const log = join(root, 'agent.log');
  const file = await open(log, 'w');
  const args = [`--node-name=${nodeName}`, '--node-ip=127.0.0.1', '--port=0', '--max-pods=3'];
  const child = spawn(process.execPath, [program, ...args], {
    env: {
      PATH: `${join(root, 'sbin')}:/usr/local/bin:/usr/bin:/bin`,
      HOME: join(root, 'Users/m1'),
      TART_HOME: tart.home,
      TARTAN_ROOT: root,
    },
    stdio: ['ignore', 'ignore', file.fd],
  });
  await file.close();
  const ended = once(child, 'close');
  let asked = false;
  const broken = ended.then(async ([code]): Promise<never> => {
    if (asked) return new Promise<never>(() => {});
    throw new Error(`the agent ended with ${String(code)}:\n${(await readFile(log, 'utf8')).slice(-4000)}`);
  });
  broken.catch(() => {});
  return {
    image,
    bootMs,
    broken,
    calls: () => readTartCalls(stamps, stampDelayMs),
    stampDelayMs,
    lastLease: () => statSync(join(root, 'var/db/dhcpd_leases')).mtimeMs,
    resident: () => {
      const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1];
      return (Number(kilobytes) * 1024) / 1e6;
    },
    stop: async () => {
      asked = true;
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await ended;
      tart.powerOff();
    },
  };
};
