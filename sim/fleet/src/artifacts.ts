import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { standInSoftware, writeByContent } from '@tartan/sim-mac';
import { placeholderVersion } from '@tartan/tools-build/any-version';
import { demoGuestScript } from './guests.ts';

/** A release of the agent. */
export interface AgentRelease {
  readonly version: string;
  /** Returns a broken program. */
  readonly corrupt?: (agent: string) => string;
  /** The text of a runtime. Default: the stand-in for node. */
  readonly runtime?: string;
}

/**
 * Flags of the provider with the paths of what it installs on Macs: the built agent, and stand-ins for other software. `builders`: with
 * the software of Macs that bake images. `guest`: the script of every guest.
 */
export const artifactFlags = async (
  folder: string,
  { version, corrupt = (agent) => agent, runtime }: AgentRelease,
  { builders = false, guest = demoGuestScript }: { readonly builders?: boolean; readonly guest?: string } = {},
): Promise<readonly string[]> => {
  const files = join(folder, 'artifacts');
  const { tart, node, actionsRunner, packer, crane, oras } = await standInSoftware(files, { guest });
  const release = await writeByContent(files, `tart-kubelet-${version}`, corrupt(await agentText(version)));
  const { file: runtimeFile } = runtime === undefined ? node : await writeByContent(files, 'node', runtime);
  return [
    `--agent-runtime-path=${runtimeFile}`,
    `--agent-release-path=${release.file}`,
    `--tart-tarball-path=${tart.file}`,
    ...(builders
      ? [
          `--actions-runner-tarball-path=${actionsRunner.file}`,
          `--packer-binary-path=${packer.file}`,
          `--crane-binary-path=${crane.file}`,
          `--oras-binary-path=${oras.file}`,
        ]
      : []),
  ];
};

/** A built `tartan` ships these files. In a checkout they are built on demand. */
const shipped = (name: string): string | undefined => {
  const file = join(import.meta.dirname, 'files', name);
  return existsSync(file) ? file : undefined;
};

const buildAgentText = async (): Promise<string> => {
  const { buildAgent } = await import('@tartan/tools-build');
  const folder = await mkdtemp(join(tmpdir(), 'tartan-agent-'));
  try {
    return await readFile(await buildAgent(folder, { version: placeholderVersion }), 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

let builtAgentText: Promise<string> | undefined;

/** The agent as it is pushed to Macs, in this version. Built once by each process, since that takes half a second. */
export const agentText = async (version: string): Promise<string> => {
  const file = shipped('tart-kubelet.mjs');
  builtAgentText ??= file === undefined ? buildAgentText() : readFile(file, 'utf8');
  return (await builtAgentText).replaceAll(placeholderVersion, version);
};

/** The bundle of the provider. */
export const managerProgram = async (folder: string): Promise<string> =>
  shipped('manager/manager.mjs') ?? (await import('@tartan/tools-build')).buildManager(join(folder, 'manager'));

/** The bundle of the provider with played hosts. */
export const playedHostsProgram = async (folder: string): Promise<string> =>
  shipped('played-hosts/played-hosts.mjs') ??
  (await import('@tartan/tools-build')).buildPlayedHosts(join(folder, 'manager'));

/** The bundle of the runners controller. */
export const runnersProgram = async (folder: string): Promise<string> =>
  shipped('runners.mjs') ?? (await import('@tartan/tools-build')).buildRunners(folder);
