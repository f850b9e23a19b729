import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { describeArtifact, type HostSpec } from '@tartan/host';
import { parse } from 'yaml';
import { z } from 'zod';

/** A `HostSpec` in a file: artifacts are paths, relative to the file. */
const schemaFor = (path: string) => {
  const artifact = (field: string) =>
    z
      .string()
      .min(1)
      .transform(async (name, context) => {
        const file = resolve(dirname(path), name);
        try {
          return await describeArtifact(file, field);
        } catch {
          context.addIssue(`cannot read ${file}. Use the path of an existing file, relative to ${path}.`);
          return z.NEVER;
        }
      });
  const rule = z.strictObject({ cidr: z.string(), protocol: z.enum(['tcp', 'udp']), ports: z.coerce.string() });
  return z.strictObject({
    user: z.string().min(1).default('m1'),
    nodeName: z.string().min(1),
    tart: artifact('tart'),
    vmEgress: z.strictObject({ allow: z.array(rule) }).default({ allow: [] }),
    tailscale: z
      .strictObject({
        binaries: artifact('tailscale.binaries'),
        tags: z.array(z.string()).default([]),
        acceptRoutes: z.boolean().default(false),
        authKeyVersion: z.string().default(''),
      })
      .exactOptional(),
    nodeExporter: artifact('nodeExporter').exactOptional(),
    agent: z.strictObject({
      runtime: artifact('agent.runtime'),
      release: artifact('agent.release'),
      nodeLabels: z.record(z.string(), z.string()).default({}),
      providerID: z.string().exactOptional(),
      kubeletVersion: z.string().exactOptional(),
      hostCPU: z.int().positive().default(8),
      hostMemoryMB: z.int().positive().default(16_384),
      maxPods: z.int().positive().default(3),
      joinVersion: z.string().default(''),
    }),
    ghActionsRunner: z
      .strictObject({
        org: z.string().min(1),
        labels: z.array(z.string()),
        runner: artifact('ghActionsRunner.runner'),
        packer: artifact('ghActionsRunner.packer'),
        crane: artifact('ghActionsRunner.crane'),
        oras: artifact('ghActionsRunner.oras'),
      })
      .exactOptional(),
  });
};

/** Reads a host specification from YAML or JSON, and the checksums of its artifacts. */
export const readSpecFile = async (path: string): Promise<HostSpec> => {
  const result = await schemaFor(path).safeParseAsync(parseYaml(path, await readText(path)));
  if (result.success) return result.data;
  const issues = result.error.issues.map(({ path: field, message }) => `${field.join('.') || 'the file'}: ${message}`);
  throw new Error(`${path}: ${issues.join('; ')}`);
};

const readText = async (path: string): Promise<string> => {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unreadable';
    throw new Error(`${path}: cannot be read (${code}). Use the path of a host specification.`, { cause });
  }
};

const parseYaml = (path: string, content: string): unknown => {
  try {
    return parse(content);
  } catch (cause) {
    throw new Error(`${path}: not YAML: ${cause instanceof Error ? cause.message.split('\n')[0] : 'unreadable'}`, {
      cause,
    });
  }
};
