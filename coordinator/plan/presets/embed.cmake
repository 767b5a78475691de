# Writes OUT: every file of FILES (a ;-list, ASCII) as a C string in TABLE, an array of `struct STRUCT` that HEADER
# declares: name and text.
set(text "#include \"${HEADER}\"\n\n")
set(table "")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(MAKE_C_IDENTIFIER ${name} id)
  string(APPEND text "static const char text_${id}[] = {${bytes}0};\n")
  string(APPEND table "    {\"${name}\", text_${id}},\n")
endforeach()
string(APPEND text "\nconst struct ${STRUCT} ${TABLE}[] = {\n${table}    {0, 0},\n};\n")
file(WRITE ${OUT} "${text}")
