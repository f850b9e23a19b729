import { type Artifact, describeArtifact } from '@tartan/host';
import { flags } from '../flags/flag-table.ts';
import type { ProviderOptions } from '../flags/provider-options.ts';

/** Files that should be put on Macs are missing. Each line names the flag for the path of one file. */
export class HostSettingsError extends Error {
  override readonly name = 'HostSettingsError';
}

type Options = Pick<ProviderOptions, 'agent' | 'artifacts' | 'tailscale' | 'vmEgress'>;

/**
 * Reads and hashes every file for Macs, one after the other, without keeping any in memory. Rejects with `HostSettingsError`, which lists
 * all unusable files: a manager that cannot provision Macs must not start.
 */
export const loadHostSettings = async (options: Options) => {
  const { artifacts, tailscale } = options;
  const problems: string[] = [];
  const read = async (path: string, name: string, flag: { readonly name: string }): Promise<Artifact> => {
    try {
      const artifact = await describeArtifact(path, name);
      if (artifact.size === 0) problems.push(artifactProblem(path, name, 'it is empty', flag));
      return artifact;
    } catch (error) {
      problems.push(artifactProblem(path, name, whyUnreadable(error), flag));
      return { name, sha256: '', size: 0, file: path };
    }
  };
  /** `undefined`: this manager cannot provision builders. */
  const builder = artifacts.builder && {
    runner: await read(artifacts.builder.runner, 'the GitHub Actions runner', flags.actionsRunnerTarballPath),
    packer: await read(artifacts.builder.packer, 'packer', flags.packerBinaryPath),
    crane: await read(artifacts.builder.crane, 'crane', flags.craneBinaryPath),
    oras: await read(artifacts.builder.oras, 'oras', flags.orasBinaryPath),
  };
  const settings = {
    agent: {
      ...options.agent,
      runtime: await read(artifacts.agentRuntime, 'node', flags.agentRuntimePath),
      release: await read(artifacts.agentRelease, 'tart-kubelet', flags.agentReleasePath),
    },
    tart: await read(artifacts.tart, 'tart', flags.tartTarballPath),
    nodeExporter:
      artifacts.nodeExporter === undefined
        ? undefined
        : await read(artifacts.nodeExporter, 'node_exporter', flags.nodeExporterBinaryPath),
    vmEgress: options.vmEgress,
    tailscale: tailscale && {
      binaries: await read(tailscale.binariesPath, 'tailscale', flags.tailscaleBinariesPath),
      authKeySecretName: tailscale.authKeySecretName,
      tags: tailscale.tags,
      acceptRoutes: tailscale.acceptRoutes,
    },
    builder,
  };
  if (problems.length > 0) throw new HostSettingsError(problems.join('\n'));
  return settings;
};

/** What all Macs of this manager get, whatever their fleet. Loaded once at the start, when the artifacts are read and hashed. */
export type HostSettings = Readonly<Awaited<ReturnType<typeof loadHostSettings>>>;

const artifactProblem = (path: string, name: string, why: string, flag: { readonly name: string }): string =>
  `Macs cannot be given ${name}: ${path} cannot be used, as ${why}. Put the file there, or say where it is by --${flag.name}.`;

const whyUnreadable = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'there is no such file';
    case 'EACCES':
    case 'EPERM':
      return 'this process may not read it';
    case 'EISDIR':
      return 'it is a folder';
    default:
      return `reading it failed (${code})`;
  }
};
