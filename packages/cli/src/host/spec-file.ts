import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type Artifact, describeArtifact, type HostSpec } from '@tartan/host';
import { parse } from 'yaml';
import { z } from 'zod';

/** What is wrong with a file that describes a host: which file, which field, what to write instead. */
class SpecFileError extends Error {
  override readonly name = 'SpecFileError';
}

const file = z.string().min(1);

/** A `HostSpec` as a person writes it: artifacts are paths, relative to the file. */
const schema = z.strictObject({
  user: z.string().min(1).default('m1'),
  nodeName: z.string().min(1),
  tart: file,
  vmEgress: z
    .strictObject({
      allow: z.array(z.strictObject({ cidr: z.string(), protocol: z.enum(['tcp', 'udp']), ports: z.coerce.string() })),
    })
    .default({ allow: [] }),
  tailscale: z
    .strictObject({
      binaries: file,
      tags: z.array(z.string()).default([]),
      acceptRoutes: z.boolean().default(false),
      authKeyVersion: z.string().default(''),
    })
    .optional(),
  nodeExporter: file.optional(),
  agent: z.strictObject({
    runtime: file,
    release: file,
    nodeLabels: z.record(z.string(), z.string()).default({}),
    providerID: z.string().optional(),
    kubeletVersion: z.string().optional(),
    hostCPU: z.int().positive().default(8),
    hostMemoryMB: z.int().positive().default(16_384),
    maxPods: z.int().positive().default(3),
    joinVersion: z.string().default(''),
  }),
  ghActionsRunner: z
    .strictObject({
      org: z.string().min(1),
      labels: z.array(z.string()),
      runner: file,
      packer: file,
      crane: file,
      oras: file,
    })
    .optional(),
});

/** Reads what a host should be from YAML or JSON, and every artifact it names once, to know it by its content. */
export const readSpecFile = async (path: string): Promise<HostSpec> => {
  const written = parseSpec(path, await readText(path));
  const artifact = async (field: string, name: string): Promise<Artifact> => {
    const at = resolve(dirname(path), name);
    try {
      return await describeArtifact(at, field);
    } catch {
      throw new SpecFileError(`${path}: ${field}: cannot read ${at}. Name a file that is there, relative to ${path}.`);
    }
  };
  const { tailscale, nodeExporter, ghActionsRunner, agent } = written;
  const { providerID, kubeletVersion, ...restOfAgent } = agent;
  return {
    user: written.user,
    nodeName: written.nodeName,
    tart: await artifact('tart', written.tart),
    vmEgress: written.vmEgress,
    ...(tailscale && {
      tailscale: { ...tailscale, binaries: await artifact('tailscale.binaries', tailscale.binaries) },
    }),
    ...(nodeExporter !== undefined && { nodeExporter: await artifact('nodeExporter', nodeExporter) }),
    agent: {
      ...restOfAgent,
      ...(providerID !== undefined && { providerID }),
      ...(kubeletVersion !== undefined && { kubeletVersion }),
      runtime: await artifact('agent.runtime', agent.runtime),
      release: await artifact('agent.release', agent.release),
    },
    ...(ghActionsRunner && {
      ghActionsRunner: {
        ...ghActionsRunner,
        runner: await artifact('ghActionsRunner.runner', ghActionsRunner.runner),
        packer: await artifact('ghActionsRunner.packer', ghActionsRunner.packer),
        crane: await artifact('ghActionsRunner.crane', ghActionsRunner.crane),
        oras: await artifact('ghActionsRunner.oras', ghActionsRunner.oras),
      },
    }),
  };
};

const readText = async (path: string): Promise<string> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    throw new SpecFileError(`${path}: cannot be read (${code}). Name a file that describes the host.`);
  }
};

const parseSpec = (path: string, content: string): z.infer<typeof schema> => {
  let document: unknown;
  try {
    document = parse(content);
  } catch (error) {
    throw new SpecFileError(
      `${path}: not YAML: ${error instanceof Error ? error.message.split('\n')[0] : 'unreadable'}`,
    );
  }
  const result = schema.safeParse(document);
  if (result.success) return result.data;
  const wrong = result.error.issues.map(({ path: field, message }) => `${field.join('.') || 'the file'}: ${message}`);
  throw new SpecFileError(`${path}: ${wrong.join('; ')}`);
};
