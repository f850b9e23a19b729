import type { Transport } from '@tartan/kube';
import { z } from 'zod';
import { aligned } from '../aligned.ts';

const tableAnswer = z.object({
  columnDefinitions: z.array(z.object({ name: z.string(), priority: z.number() })),
  rows: z.array(z.object({ cells: z.array(z.unknown()) })).nullish(),
});

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

/** What `kubectl get` prints for this path of the API, line by line, its head first: the server makes it, for kubectl as for us. */
export const kubectlTable = async (transport: Transport, path: string, signal: AbortSignal): Promise<string[]> => {
  const answer = await transport.send({ method: 'GET', path, headers: { accept: table }, signal });
  const parts: Uint8Array[] = [];
  for await (const part of answer.body) parts.push(part);
  const { columnDefinitions, rows } = tableAnswer.parse(JSON.parse(Buffer.concat(parts).toString()));
  const shown = columnDefinitions.flatMap(({ priority, name }, at) => (priority === 0 ? [{ name, at }] : []));
  const head = shown.map(({ name }) => name.toUpperCase());
  return aligned([head, ...(rows ?? []).map(({ cells }) => shown.map(({ at }) => textOf(cells[at])))]);
};

const textOf = (cell: unknown): string => {
  if (typeof cell === 'string') return cell;
  return typeof cell === 'number' || typeof cell === 'boolean' ? String(cell) : '';
};
