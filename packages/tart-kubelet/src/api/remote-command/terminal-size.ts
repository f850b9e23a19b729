import { z } from 'zod';
import type { TerminalSize } from '../pod-runtime.ts';

const side = z.number().int().min(0).max(65_535);
const shape = z.object({ Width: side, Height: side });

/** undefined for what is no size, and for zeros, which a client sends that does not know its own. */
export const parseTerminalSize = (text: string): TerminalSize | undefined => {
  try {
    const { Width: width, Height: height } = shape.parse(JSON.parse(text));
    return width === 0 || height === 0 ? undefined : { width, height };
  } catch {
    return undefined;
  }
};
