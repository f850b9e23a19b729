import type { Json, KubeObject } from '../object.ts';

/** A column of `kubectl get`. The server computes the cells. */
export interface Column {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  format: string;
  description: string;
  /** 0 is always shown, 1 with `-o wide`. */
  priority: number;
}

export interface Columns {
  definitions: readonly Column[];
  /** One cell per definition. `now` is for ages. */
  cells(object: KubeObject, now: number): Json[];
  /** Conditions of the row; older kubectl hid rows that are `Completed`. */
  conditions?(object: KubeObject): Json[];
}

/** A time span as in `kubectl get`: `45s`, `3m20s`, `5h`, `12d`. Slightly negative counts as 0. */
export const humanDuration = (milliseconds: number): string => {
  const seconds = Math.trunc(milliseconds / 1000);
  if (Number.isNaN(seconds) || seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  const pair = (big: number, bigUnit: string, small: number, smallUnit: string): string =>
    small === 0 ? `${big}${bigUnit}` : `${big}${bigUnit}${small}${smallUnit}`;
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  const years = Math.floor(days / 365);
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's');
  if (hours < 3) return `${minutes}m`;
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  if (days < 8) return pair(days, 'd', hours % 24, 'h');
  if (years < 2) return `${days}d`;
  if (years < 8) return pair(years, 'y', days % 365, 'd');
  return `${years}y`;
};

/** The time since `from`. */
export const age = (from: string | undefined, now: number): string =>
  from ? humanDuration(now - Date.parse(from)) : '<unknown>';

export const column = (name: string, type: Column['type'] = 'string', priority = 0, format = ''): Column => ({
  name,
  type,
  format,
  description: '',
  priority,
});

/** A column that only `-o wide` shows. */
export const wide = (name: string, type: Column['type'] = 'string'): Column => column(name, type, 1);

export const nameColumn = column('Name', 'string', 0, 'name');
export const ageColumn = column('Age');

/** The object of a bookmark has hardly any metadata. */
export const nameOf = (object: KubeObject): string => object.metadata.name ?? '';
export const ageOf = (object: KubeObject, now: number): string => age(object.metadata.creationTimestamp, now);

/** For kinds without their own columns. */
export const nameAndAge: Columns = {
  definitions: [nameColumn, ageColumn],
  cells: (object, now) => [nameOf(object), ageOf(object, now)],
};

/** For kinds that have no printer in the real server. */
export const nameAndCreation: Columns = {
  definitions: [nameColumn, column('Created At', 'date')],
  cells: (object) => [nameOf(object), object.metadata.creationTimestamp || '0001-01-01T00:00:00Z'],
};
