import { type Row, tableLines } from '../../show/table.ts';
import { andMore, type Paper } from './fleet-lines.ts';
import type { MacProgress } from './mac-progress.ts';

const barLetters = 12;
/** Where a bar would leave too little for words. */
const narrow = 70;

/** A line for each machine that is on its way. Pure. */
export const macLines = (macs: readonly MacProgress[], room: number, paper: Paper): string[] => {
  const shown = macs.length <= room ? macs : macs.slice(0, Math.max(0, room - 1));
  const rows = shown.map((mac) => rowOf(mac, paper));
  // Nobody needs to be told what a bar is, so the head is left out.
  const lines = tableLines({ head: ['', '', '', ''], rows }, { width: paper.columns, look: paper.look }).slice(1);
  return shown.length === macs.length ? lines : [...lines, andMore(macs.length - shown.length)].slice(0, room);
};

const rowOf = ({ machine, steps, what }: MacProgress, { columns }: Paper): Row => {
  const done = steps.filter((step) => step.done).length;
  const bar = columns < narrow ? '' : barOf(done, steps.length);
  return {
    key: machine,
    cells: [machine, { text: bar, tone: 'good' }, `${String(done).padStart(2)}/${steps.length}`, what],
  };
};

const barOf = (done: number, of: number): string => {
  const full = of === 0 ? 0 : Math.floor((barLetters * done) / of);
  return `${'█'.repeat(full)}${'░'.repeat(barLetters - full)}`;
};
