import { execFile } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Tool, ToolCall, ToolResult } from '../machine.ts';
import { replaceFile } from '../replace-file.ts';
import { maxConcurrentCalls, quote } from './tool-stubs.ts';

/** The fastest folder for files: in memory on Linux. */
const fastestTmpFolder = (): string => {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return '/dev/shm';
  } catch {
    return tmpdir();
  }
};

/** Folders of running Macs. Removed when the process exits without stopping them: no other code would find them. */
const foldersInUse = new Set<string>();
process.once('exit', () => {
  for (const folder of foldersInUse) rmSync(folder, { recursive: true, force: true });
});

/** An empty folder, in memory if possible, behind the symbolic link `link`. Removes an earlier one. */
const makeMemoryFolder = (link: string): void => {
  removeMemoryFolder(link);
  const folder = mkdtempSync(join(fastestTmpFolder(), 'tartan-calls-'));
  foldersInUse.add(folder);
  symlinkSync(folder, link);
};

const removeMemoryFolder = (link: string): void => {
  try {
    const folder = readlinkSync(link);
    rmSync(folder, { recursive: true, force: true });
    foldersInUse.delete(folder);
  } catch {
    // There is none.
  }
  rmSync(link, { recursive: true, force: true });
};

/** Instead of output, a piece of shell that the calling process executes. Only for tools with their own stub. */
export interface ShellResult {
  readonly shell: string;
}

export type ShellTool = (call: ToolCall) => ToolResult | ShellResult | Promise<ToolResult | ShellResult>;

interface ToolCalls {
  open(): Promise<void>;
  /** Running calls get no answer: their processes must be gone already. */
  close(): Promise<void>;
}

const resultScript = (answer: ToolResult | ShellResult): string => {
  if ('shell' in answer) return `${answer.shell}\n`;
  const print = (text: string | undefined, to: string): string =>
    text === undefined || text === '' ? '' : `printf %s ${quote(text)}${to}\n`;
  return `${print(answer.stdout, '')}${print(answer.stderr, ' >&2')}exit ${answer.code}\n`;
};

const isSilent = (answer: ToolResult | ShellResult): answer is ToolResult =>
  !('shell' in answer) && !answer.stdout && !answer.stderr;

/** The other end of `tool-stubs.ts`: reads calls from the FIFO `requests`, runs the tool, and answers. */
export const createToolCalls = (folder: string, tools: () => Readonly<Record<string, Tool | ShellTool>>): ToolCalls => {
  let notifier: Socket | undefined;
  /** The call of each used slot: running or answered. */
  const usedSlots = new Map<string, { call: ToolCall }>();

  /** Opening a FIFO for writing fails without a reader: then the caller is gone. */
  const openAnswerFifo = (slot: string): number | undefined => {
    try {
      return openSync(join(folder, slot), constants.O_WRONLY | constants.O_NONBLOCK);
    } catch {
      return undefined;
    }
  };

  /** If no process reads a slot's FIFO, its caller has read the answer, or died before. */
  const freeSlots = (): void => {
    for (const slot of usedSlots.keys()) {
      const stillRead = openAnswerFifo(slot);
      if (stillRead !== undefined) {
        closeSync(stillRead);
        continue;
      }
      usedSlots.delete(slot);
      rmSync(join(folder, `${slot}.call`), { force: true });
    }
  };

  const readCall = (slot: string): ToolCall => {
    const wordsFile = join(folder, `${slot}.words`);
    const words = readFileSync(wordsFile, 'utf8').split('\0');
    const [uid = '', cwd = '/', input = 'no', name = '', ...args] = words.slice(0, -1);
    const inputFile = join(folder, `${slot}.input`);
    const stdin = input === 'yes' ? readFileSync(inputFile) : Buffer.alloc(0);
    if (input === 'yes') rmSync(inputFile, { force: true });
    rmSync(wordsFile);
    return { name, args, cwd, asRoot: uid === '0', stdin };
  };

  const runTool = async (call: ToolCall): Promise<ToolResult | ShellResult> => {
    const tool = tools()[call.name];
    if (tool === undefined) return { code: 127, stderr: `${call.name}: command not found\n` };
    try {
      return await tool(call);
    } catch (error) {
      return { code: 70, stderr: `${call.name}: the simulated Mac failed: ${String(error)}\n` };
    }
  };

  const serve = async (slot: string): Promise<void> => {
    const mine = { call: readCall(slot) };
    usedSlots.set(slot, mine);
    const answer = await runTool(mine.call);
    // The Mac has stopped, or the caller died and another call has its slot.
    if (usedSlots.get(slot) !== mine) return;
    const fd = openAnswerFifo(slot);
    if (fd === undefined) return;
    if (!isSilent(answer)) replaceFile(join(folder, `${slot}.answer`), resultScript(answer));
    try {
      writeSync(fd, isSilent(answer) ? `${answer.code}\n` : '.\n');
    } catch {
      // The caller has just died.
    } finally {
      closeSync(fd);
    }
  };

  return {
    open: async () => {
      mkdirSync(dirname(folder), { recursive: true });
      // Some thousand short-lived files in a first boot: on a disk they would cost as much as all the rest.
      makeMemoryFolder(folder);
      const fifos = ['requests', ...Array.from({ length: maxConcurrentCalls }, (_, slot) => String(slot))];
      await promisify(execFile)(
        'mkfifo',
        fifos.map((name) => join(folder, name)),
      );
      // Also open for writing, so that there is no end of file; read by the event loop, so that no thread blocks.
      const fd = openSync(join(folder, 'requests'), constants.O_RDWR | constants.O_NONBLOCK);
      const socket = new Socket({ fd, readable: true, writable: false });
      let rest = '';
      socket.setEncoding('latin1').on('data', (text: string) => {
        freeSlots();
        const rung = `${rest}${text}`.split('\n');
        rest = rung.pop() ?? '';
        for (const slot of rung) if (slot !== '') void serve(slot);
      });
      notifier = socket;
    },
    close: async () => {
      usedSlots.clear();
      const closed = notifier && once(notifier, 'close');
      notifier?.destroy();
      notifier = undefined;
      await closed;
      removeMemoryFolder(folder);
    },
  };
};
