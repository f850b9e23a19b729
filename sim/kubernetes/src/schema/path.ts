/** Paths of fields as `details.causes` names them. The empty path is the whole object. */

export const within = (path: string, field: string): string => (path === '' ? field : `${path}.${field}`);

export const at = (path: string, index: number): string => `${path}[${index}]`;

/** An entry of a map. */
export const inside = (path: string, key: string): string => `${path}[${key}]`;

export const shownPath = (path: string): string => (path === '' ? '<nil>' : path);
