import { PROPERTIES } from './label';

/**
 * The Property of a project (service.md: WORK.PROJECT_PROPERTY): what the map says, without case; else the Property
 * that is called like it; else none.
 */
export function propertyOfProject(
  project: string | null,
  map: Readonly<Record<string, string>>,
): string | null {
  if (project === null) return null;
  const name = project.trim().toLowerCase();
  const entry = Object.entries(map).find(([key]) => key.trim().toLowerCase() === name);
  if (entry !== undefined) return entry[1].toLowerCase();
  const plain = name.replace(/[\s_]+/g, '-');
  return PROPERTIES.find((property) => property === plain) ?? null;
}
