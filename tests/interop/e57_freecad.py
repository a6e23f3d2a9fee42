"""Prints the points of E57 files as libE57Format within FreeCAD reads them, as e57_read.mjs does; colours as FreeCAD has
them are left out.    python3 tests/interop/e57_freecad.py FILE…"""
import sys

sys.path += ["/usr/lib/freecad-python3/lib", "/usr/lib/freecad/lib", "/usr/share/freecad/Ext"]
import FreeCAD
import Points

for path in sys.argv[1:]:
    print("#", path)
    document = FreeCAD.newDocument("read")
    try:
        Points.insert(path, document.Name)
        for part in document.Objects:
            for point in part.Points.Points:
                print(repr(point.x), repr(point.y), repr(point.z))
    except Exception as error:  # pylint: disable=broad-except
        print("!", str(error).replace("\n", " "))
    FreeCAD.closeDocument(document.Name)
