import type { ExecEnd, ExecSession } from './exec.ts';

export interface Collected {
  readonly end: ExecEnd;
  readonly stdout: string;
  readonly stderr: string;
  /** The guest wrote more than was kept; it was ended for that. */
  readonly cut: boolean;
}

/** Reads a session to its end, at most `maxBytes` of each stream: a guest decides how much it writes, not how much we keep. */
export const collectExec = async (session: ExecSession, maxBytes: number): Promise<Collected> => {
  let cut = false;
  const read = async (stream: ExecSession['stdout']): Promise<string> => {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, maxBytes - size));
      size += chunk.length;
      if (size <= maxBytes) continue;
      cut = true;
      session.kill();
      break;
    }
    return Buffer.concat(chunks).toString();
  };
  const [stdout, stderr, end] = await Promise.all([read(session.stdout), read(session.stderr), session.ended]);
  return { end, stdout, stderr, cut };
};
